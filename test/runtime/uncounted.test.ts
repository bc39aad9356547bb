import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createUncounted } from "../../src/engine/uncounted-time.ts";
import { createManualClock, reply, respond } from "../../src/testing/index.ts";
import { startTree } from "../delegation/tree-fixture.ts";

describe("time that does not count", () => {
  it("is added up, and overlapping waits count once", () => {
    const uncounted = createUncounted();
    const first = uncounted.begin(100);
    const second = uncounted.begin(120);
    assert.equal(uncounted.until(130), 30);
    first(150);
    second(160);
    assert.equal(uncounted.until(500), 60);
    uncounted.begin(600)(610);
    assert.equal(uncounted.until(1000), 70);
  });

  it("includes a child's wait for an answer: a slow person does not end a run", async (t) => {
    const clock = createManualClock(0);
    const tree = await startTree(
      t,
      respond(({ items }) => {
        const hasOutput = items.some(({ type }) => type === "function_call_output");
        const text = JSON.stringify(items);
        if (hasOutput) return reply.text("Done.");
        if (text.includes('"go"')) {
          const call = { label: "slow", task_prompt: "Write it." };
          return reply.calls([{ name: "subagent", arguments: JSON.stringify(call) }]);
        }
        return reply.calls([{ name: "write", arguments: '{"path":"a.txt","content":"a"}' }]);
      }),
      {
        delegation: { childTimeoutMs: 500 },
        clock,
        ask: async () => {
          await clock.advance(900);
          return "yes";
        },
      },
    );
    const { events, end } = await tree.run({ tools: ["write", "subagent"] });
    const child = events.find((event) => event.type === "child_end");
    assert.deepEqual([child?.ending, end.ending], ["completed", "completed"]);
  });
});
