import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { startTree } from "./tree-fixture.ts";

/** What the user said last to this run. */
function lastAsked({ items }: ModelRequest): string {
  const message = items.findLast((item) => item.type === "message" && item.role === "user");
  return message?.type === "message" && typeof message.content === "string" ? message.content : "";
}

const outputsIn = ({ items }: ModelRequest): string[] =>
  items.flatMap((item) =>
    item.type === "function_call_output" && typeof item.output === "string" ? [item.output] : [],
  );

const subagent = (input: object) => ({ name: "subagent", arguments: JSON.stringify(input) });

describe("the subagent tool", () => {
  it("gives a task to a run of its own, which sees nothing of its parent", async (t) => {
    const seen: ModelRequest[] = [];
    const tree = await startTree(
      t,
      respond((request) => {
        const asked = lastAsked(request);
        if (asked === "go" && outputsIn(request).length === 0) {
          return reply.calls([subagent({ label: "count", task_prompt: "Count the files." })]);
        }
        if (asked === "go") return reply.text("The parent is done.");
        seen.push(request);
        return reply.text("There are 3.");
      }),
    );
    const { end, events, id } = await tree.run();
    assert.equal(end.output_text, "The parent is done.");
    assert.deepEqual(seen.map(lastAsked), [
      "Count the files.\n\nSummarize your findings concisely",
    ]);
    assert.ok(!JSON.stringify(seen).includes('"go"'), "the parent's words");
    const result = events.find((event) => event.type === "tool_end");
    assert.ok(result?.type === "tool_end" && result.item.type === "function_call_output");
    assert.deepEqual(JSON.parse(String(result.item.output)), {
      success: true,
      output: "There are 3.",
      error: null,
      metadata: {
        subagent_label: "count",
        recursion_depth: "1",
        completion_status: "complete",
        turns_used: "1",
        max_turns_reached: "false",
        tokens_consumed: String(
          events.find((event) => event.type === "child_end")?.usage.total_tokens,
        ),
      },
    });
    const child = await tree.eventsOf(`${id}/count-1.0`);
    assert.deepEqual([child[0]?.type, child.at(-1)?.type], ["run_start", "run_end"]);
    assert.deepEqual(
      tree.observed.map(({ event }) => event),
      ["spawn", "complete"],
    );
  });

  it("asks once more for a report that its call describes, with tools that must not be called", async (t) => {
    const seen: ModelRequest[] = [];
    const task = { label: "count", task_prompt: "Count.", summary_prompt: "As a number." };
    const tree = await startTree(
      t,
      respond((request) => {
        const asked = lastAsked(request);
        if (asked === "go" && outputsIn(request).length === 0) return reply.calls([subagent(task)]);
        if (asked === "go") return reply.text("The parent is done.");
        seen.push(request);
        return reply.text(asked === "Count." ? "There are 3." : "3");
      }),
    );
    const { events } = await tree.run();
    assert.deepEqual(seen.map(lastAsked), ["Count.", "As a number."]);
    assert.deepEqual(seen[1]?.tools, seen[0]?.tools, "so that a vendor's cache has the beginning");
    assert.deepEqual([seen[0]?.tool_choice, seen[1]?.tool_choice], ["auto", "none"]);
    const result = events.find((event) => event.type === "tool_end");
    assert.ok(result?.type === "tool_end" && result.item.type === "function_call_output");
    const { output, metadata } = JSON.parse(String(result.item.output));
    assert.deepEqual([output, metadata.turns_used], ["3", "2"]);
  });

  it("reports partial work as incomplete when the turns are used up", async (t) => {
    const tree = await startTree(
      t,
      respond((request) => {
        const asked = lastAsked(request);
        if (asked === "go" && outputsIn(request).length === 0) {
          return reply.calls([
            subagent({ label: "loop", task_prompt: "Read for ever.", max_turns: 3 }),
          ]);
        }
        if (asked === "go") return reply.text("done");
        if (asked.startsWith("Read for ever.")) {
          return reply.calls([{ name: "read", arguments: '{"path":"a.txt"}' }], {
            text: "Reading.",
          });
        }
        return reply.text("So far: nothing.");
      }),
      { files: { "a.txt": "a" } },
    );
    const { events } = await tree.run();
    const result = events.find((event) => event.type === "tool_end");
    assert.ok(result?.type === "tool_end" && result.item.type === "function_call_output");
    const { success, output, metadata } = JSON.parse(String(result.item.output));
    assert.deepEqual([success, output], [true, "So far: nothing."]);
    assert.deepEqual(
      [metadata.completion_status, metadata.max_turns_reached, metadata.turns_used],
      ["incomplete", "true", "3"],
    );
  });
});
