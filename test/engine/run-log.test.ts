import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRunLog } from "../../src/engine/run-log.ts";
import { createGate, notice, settle } from "./engine-bench.ts";

describe("run log", () => {
  it("appends in the order of the numbers, one batch after the other", async () => {
    const gate = createGate();
    const calls: string[] = [];
    const log = createRunLog({
      next: 5,
      async append(first) {
        calls.push(`append ${first}`);
        await gate.opened;
      },
      publish: (first) => calls.push(`publish ${first}`),
    });
    const numbers = [log.emit([notice("a"), notice("b")]), log.emit([notice("c")])];
    await settle();
    assert.deepEqual(calls, ["append 5"]);
    gate.open();
    assert.deepEqual(await Promise.all(numbers), [6, 7]);
    assert.deepEqual(calls, ["append 5", "publish 5", "append 7", "publish 7"]);
    assert.equal(log.next, 8);
  });

  it("refuses everything after a refused append, so that no number is skipped", async () => {
    const log = createRunLog({
      next: 0,
      append: async (first) => {
        if (first === 1) throw new Error("refused");
      },
      publish() {},
    });
    await log.emit([notice("a")]);
    await assert.rejects(log.emit([notice("b")]), { message: "refused" });
    // Left alone on purpose: the failure must neither be lost nor end the process.
    void log.emit([notice("c")]);
    await settle();
    await assert.rejects(log.settled(), { message: "refused" });
    assert.equal(log.next, 1);
  });
});
