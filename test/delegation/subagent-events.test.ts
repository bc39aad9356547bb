/**
 * The six events of a subagent as a run emits them: which come, in which order, with which values.
 * `telemetry-log.test.ts` tests how a line of the log spells them.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply } from "../../src/testing/index.ts";
import { CALL, call, delegate, outputsIn, refusal } from "./delegate.ts";

const READ = { name: "read", arguments: { path: "a.txt" } };

describe("the events of a subagent", () => {
  it("`spawn` comes before the child's first model call, with limit and tools", async (t) => {
    let seen: unknown[] = [];
    const told: unknown[] = [];
    const { observed } = await delegate(
      t,
      { ...CALL, max_turns: 8, allowed_tools: ["read"] },
      {
        observe: (event) => told.push(event),
        child: () => {
          if (seen.length === 0) seen = [...told];
          return reply.text("Found.");
        },
      },
    );
    assert.deepEqual(observed, [], "the listener of the test took its place");
    assert.deepEqual(seen, [
      { event: "spawn", label: "research", depth: 1, max_turns: 8, allowed_tools: ["read"] },
    ]);
  });

  it("`complete` comes last, with the figures of the answer", async (t) => {
    const usage = { input: 700, output: 100 };
    const { observed } = await delegate(t, CALL, { child: () => reply.text("Found.", { usage }) });
    const figures = { turns_used: 1, tokens_consumed: 800, status: "complete" };
    assert.deepEqual(observed.at(-1), {
      event: "complete",
      label: "research",
      depth: 1,
      ...figures,
    });
  });

  it("`error` comes instead of `complete` when the child fails, with its message", async (t) => {
    const { observed, envelope } = await delegate(t, CALL, {
      child: () => refusal("No luck."),
    });
    assert.deepEqual(
      observed.map(({ event }) => event),
      ["spawn", "error"],
    );
    const error = envelope.error;
    assert.deepEqual(observed.at(-1), { event: "error", label: "research", depth: 1, error });
  });

  it("`max_turns_exceeded` names the limit, and `complete` says `incomplete`", async (t) => {
    const { observed } = await delegate(
      t,
      { ...CALL, max_turns: 3 },
      {
        files: { "a.txt": "a" },
        child: ({ tool_choice }) =>
          tool_choice === "none" ? reply.text("So far.") : reply.calls([READ]),
      },
    );
    const [, exceeded, complete] = observed;
    const named = { label: "research", depth: 1 };
    assert.deepEqual(exceeded, { event: "max_turns_exceeded", ...named, max_turns: 3 });
    assert.ok(complete?.event === "complete" && complete.status === "incomplete");
    assert.equal(observed.length, 3);
  });

  for (const max_turns of [1, 2, 4]) {
    it(`\`max_turns_exceeded\` names a limit of ${max_turns} even if the report fails`, async (t) => {
      const { observed } = await delegate(
        t,
        { ...CALL, max_turns },
        {
          files: { "a.txt": "a" },
          child: ({ tool_choice }) =>
            tool_choice === "none" ? refusal("No report.") : reply.calls([READ]),
        },
      );
      const exceeded = observed.find(({ event }) => event === "max_turns_exceeded");
      const named = { label: "research", depth: 1 };
      assert.deepEqual(exceeded, { event: "max_turns_exceeded", ...named, max_turns });
    });
  }

  it("`truncation` has the sizes before and after, in bytes", async (t) => {
    const { observed } = await delegate(t, CALL, {
      child: () => reply.text("é".repeat(4096), { pieceLength: 4096 }),
    });
    const sizes = { original_size: 8192, truncated_size: 4096 };
    assert.deepEqual(observed[1], { event: "truncation", label: "research", ...sizes });
  });

  it("`truncation` does not come for an output that fits", async (t) => {
    const { observed } = await delegate(t, CALL, {
      child: () => reply.text("x".repeat(4096), { pieceLength: 4096 }),
    });
    assert.ok(observed.every(({ event }) => event !== "truncation"));
  });

  it("`depth_limit` has the depth of the caller and the limit, and no `spawn` comes", async (t) => {
    const { observed } = await delegate(t, CALL, {
      delegation: { maxDepth: 1 },
      child: (request) =>
        outputsIn(request).length === 0 && request.tools.length > 0
          ? reply.calls([call({ ...CALL, label: "inner" })])
          : reply.text("Found."),
    });
    const limit = { event: "depth_limit", label: "inner", current_depth: 1, max_depth: 1 };
    assert.deepEqual(
      observed.filter(({ event }) => event === "depth_limit"),
      [limit],
    );
    assert.ok(observed.every(({ event, label }) => event !== "spawn" || label !== "inner"));
  });

  it("of a nested subagent have depth 2 and come between those of its parent", async (t) => {
    const { observed } = await delegate(t, CALL, {
      child: (request) =>
        JSON.stringify(request.items[0]).includes(CALL.task_prompt) &&
        outputsIn(request).length === 0
          ? reply.calls([call({ label: "inner", task_prompt: "Deeper." })])
          : reply.text("Found."),
    });
    assert.deepEqual(
      observed.map((event) => [event.event, "depth" in event ? event.depth : undefined]),
      [
        ["spawn", 1],
        ["spawn", 2],
        ["complete", 2],
        ["complete", 1],
      ],
    );
  });
});
