import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { createManualClock, reply } from "../../src/testing/index.ts";
import { untilTrue } from "../patience.ts";
import { holding, newsIn, outputsOf, startBackground, TOOLS } from "./background-fixture.ts";
import { begin, eventsOfType, type Role, spawning, toCalls } from "./family.ts";

const asking: Role = ({ outputs }) =>
  outputs.length === 0
    ? toCalls(["ask_parent", { question: "Which colour?" }])
    : reply.text(`I was told: ${outputs[0]}`);

const answering = (id: string) => toCalls(["subagents", { action: "message", id, text: "Blue." }]);

const WAIT = toCalls(["subagents", { action: "wait" }]);

describe("a subagent that asks its parent", () => {
  it("ends the call that waits for it early, and continues with the answer", async (t) => {
    const tree = await startBackground(t, {
      go({ outputs }) {
        if (outputs.length === 0) return toCalls(spawning("painter"));
        if (outputs.length === 1) return answering("painter");
        return outputs.length === 2 ? WAIT : reply.text("painted");
      },
      painter: asking,
    });
    const { id, events, end } = await tree.run({ tools: TOOLS });
    const [envelope] = outputsOf(events, "subagent");
    assert.deepEqual(envelope, {
      success: true,
      output: "Which colour?",
      error: null,
      metadata: {
        subagent_label: "painter",
        recursion_depth: "1",
        subagent_id: `${id}/painter-1.0`,
        completion_status: "asks",
      },
    });
    const [sent, waited] = outputsOf(events, "subagents");
    assert.deepEqual(sent, { id: `${id}/painter-1.0`, sent: "answer" });
    assert.match(JSON.stringify(waited), /I was told: Blue\./);
    assert.deepEqual([end.output_text, newsIn(events)], ["painted", []]);
    const { left, divergence } = await tree.runtime.replay({ id });
    assert.deepEqual([left, divergence], [[], undefined], "it is replayed as it was");
  });

  it("ends its part of `parallel_subagent` early: the others are waited for", async (t) => {
    const tree = await startBackground(t, {
      go({ outputs }) {
        const task = (label: string) => ({ label, task_prompt: label });
        if (outputs.length === 0) {
          return toCalls(["parallel_subagent", { tasks: [task("painter"), task("plain")] }]);
        }
        if (outputs.length === 1) return answering("painter");
        return outputs.length === 2 ? WAIT : reply.text("painted");
      },
      painter: asking,
      plain: () => reply.text("plain work"),
    });
    const { id, events } = await tree.run({ tools: ["parallel_subagent", ...TOOLS] });
    const [answer] = outputsOf(events, "parallel_subagent") as { results: object[] }[];
    const [first, second] = (answer?.results ?? []) as Record<string, unknown>[];
    assert.deepEqual(
      [first?.["completion_status"], first?.["output"], first?.["subagent_id"]],
      ["asks", "Which colour?", `${id}/painter-1.0.0`],
    );
    assert.deepEqual(
      [second?.["completion_status"], second?.["output"]],
      ["complete", "plain work"],
    );
    assert.match(JSON.stringify(outputsOf(events, "subagents")[1]), /I was told: Blue\./);
    const { left, divergence } = await tree.runtime.replay({ id });
    assert.deepEqual([left, divergence], [[], undefined], "it is replayed as it was");
  });

  it("gets a message when its parent's model ends without an answer", async (t) => {
    const tree = await startBackground(t, {
      go: ({ outputs }) =>
        outputs.length === 0 ? toCalls(spawning("painter")) : reply.text("no colour"),
      painter: asking,
    });
    const { id, events, end } = await tree.run({ tools: TOOLS });
    const child = await tree.eventsOf(`${id}/painter-1.0`);
    const last = child.at(-1);
    assert.ok(last?.type === "run_end");
    assert.match(last.output_text, /I was told: No answer will come\./);
    assert.deepEqual([newsIn(events), end.ending], [["report painter"], "completed"]);
  });

  it("is reported by a message when it works in the background", async (t) => {
    const tree = await startBackground(t, {
      go({ outputs, request }) {
        if (outputs.length === 0) return toCalls(spawning("painter", { background: true }));
        const isAsked = JSON.stringify(request.items).includes("asks: Which colour?");
        if (outputs.length === 1) return isAsked ? answering("painter") : reply.text("waiting");
        return reply.text("painted");
      },
      painter: asking,
    });
    const { id, events, end } = await tree.run({ tools: TOOLS });
    assert.deepEqual(newsIn(events), ["question painter", "report painter"]);
    assert.equal(end.output_text, "painted");
    const { left, divergence } = await tree.runtime.replay({ id });
    assert.deepEqual([left, divergence], [[], undefined], "it is replayed as it was");
  });

  it("has no tool to ask if its parent has none to answer with", async (t) => {
    const offered: string[] = [];
    const tree = await startBackground(t, {
      go: ({ outputs }) =>
        outputs.length === 0
          ? toCalls(["parallel_subagent", { tasks: [{ label: "a", task_prompt: "a" }] }])
          : reply.text("done"),
      a({ request }) {
        offered.push(...request.tools.map((tool) => ("name" in tool ? String(tool.name) : "")));
        return reply.text("a done");
      },
    });
    await tree.run({ tools: ["parallel_subagent", "hold"] });
    assert.deepEqual(offered, ["hold", "parallel_subagent"]);
  });

  it("waits up to a limit, which is not counted as its time", async (t) => {
    const clock = createManualClock(0);
    const tree = await startBackground(
      t,
      {
        go: ({ outputs }) => (outputs.length < 2 ? first(outputs.length) : reply.text("done")),
        painter: asking,
      },
      { clock, delegation: { askTimeoutMs: 60_000, childTimeoutMs: 1000 } },
    );
    const first = (calls: number) =>
      calls === 0 ? toCalls(spawning("painter")) : holding("the parent");
    const run = await begin(tree, TOOLS);
    await tree.held("the parent");
    const child = `${run.id}/painter-1.0`;
    await untilTrue(async () => {
      await clock.advance(10_000);
      return (await tree.runtime.engine.status(child))?.status === "ended";
    }, "the end of the child");
    tree.release("the parent");
    await run.result();
    const last = (await tree.eventsOf(child)).at(-1);
    assert.ok(last?.type === "run_end");
    assert.equal(last.ending, "completed");
    assert.match(last.output_text, /No answer came within 60 s\. Continue with what you know\./);
  });
});

describe("a finished subagent that is asked again", () => {
  it("continues its whole conversation, as the same agent", async (t) => {
    const seen: ModelRequest[] = [];
    const tree = await startBackground(
      t,
      {
        go({ outputs }) {
          if (outputs.length === 0)
            return toCalls(spawning("counter", { allowed_tools: ["read"] }));
          const again = { label: "again", task_prompt: "And now?", continue: "counter" };
          return outputs.length === 1 ? toCalls(["subagent", again]) : reply.text("done");
        },
        counter({ request, outputs }) {
          seen.push(request);
          if (outputs.length === 0) return toCalls(["read", { path: "a.txt" }]);
          return reply.text(seen.length < 3 ? "There are 3." : "There are 4.");
        },
      },
      {},
    );
    const { id, events } = await tree.run({ tools: ["read", "subagent"] });
    const [, second] = outputsOf(events, "subagent") as { output: string }[];
    assert.equal(second?.output, "There are 4.");
    const types = seen.at(-1)?.items.map((item) => ("role" in item ? item.role : item.type));
    assert.deepEqual(types, ["user", "function_call", "function_call_output", "assistant", "user"]);
    const [, start] = eventsOfType(events, "child_start");
    assert.deepEqual(start?.requested["continue"], `${id}/counter-1.0`);
    assert.deepEqual(start?.effective["tools"], ["read"]);
    assert.equal(eventsOfType(events, "run_end")[0]?.spent["children"], 2);
    const { left, divergence } = await tree.runtime.replay({ id });
    assert.deepEqual([left, divergence], [[], undefined], "it is replayed as it was");
  });

  it("must be one of the run's own, and have ended", async (t) => {
    const again = (name: string) => ["subagent", { label: "x", task_prompt: "x", continue: name }];
    const tree = await startBackground(t, {
      go({ outputs }) {
        if (outputs.length === 0) return toCalls(spawning("a", { background: true }));
        if (outputs.length === 1) {
          return toCalls(
            again("a") as ["subagent", object],
            again("nobody") as ["subagent", object],
          );
        }
        tree.release("a");
        return reply.text("done");
      },
      a: ({ outputs }) => (outputs.length === 0 ? holding("a") : reply.text("a done")),
    });
    const { events } = await tree.run({ tools: TOOLS });
    const [, first, second] = outputsOf(events, "subagent") as { error: string }[];
    assert.equal(first?.error, "`a` has not ended: send it a message with `subagents`");
    assert.equal(second?.error, "No subagent of yours is called `nobody`. Yours: a");
  });
});
