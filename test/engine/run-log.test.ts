import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRunLog } from "../../src/engine/run-log.ts";
import { createGate, notice, settle } from "./engine-fixture.ts";

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
    const numbers = [log.emit([notice("a"), notice("b")])];
    await settle();
    numbers.push(log.emit([notice("c")]));
    assert.deepEqual(calls, ["append 5"]);
    gate.open();
    assert.deepEqual(await Promise.all(numbers), [6, 7]);
    assert.deepEqual(calls, ["append 5", "publish 5", "append 7", "publish 7"]);
    assert.equal(log.next, 8);
  });

  it("joins events that come while it appends into one batch, also those that are part of another write", async () => {
    const gate = createGate();
    const rows: (readonly [string, number, number])[] = [];
    const note = (name: string) => async (first: number, events: readonly unknown[]) => {
      rows.push([name, first, events.length]);
      await gate.opened;
    };
    const log = createRunLog({ next: 0, append: note("usual"), publish() {} });
    const numbers = [log.emit([notice("a")])];
    await settle();
    numbers.push(log.emit([notice("b")]), log.emit([notice("c"), notice("d")]));
    numbers.push(log.emit([notice("e")], note("step")), log.emit([notice("f")]));
    gate.open();
    assert.deepEqual(await Promise.all(numbers), [0, 1, 3, 4, 5]);
    assert.deepEqual(rows, [
      ["usual", 0, 1],
      ["step", 1, 5],
    ]);
    assert.equal(log.recent("run")?.length, 6);
  });

  it("keeps a log for its run's body, unless the log is long or began elsewhere", async () => {
    const quiet = { append: async () => {}, publish() {} };
    const taken = createRunLog({ next: 1, ...quiet });
    await taken.emit([notice("b")]);
    assert.equal(taken.recent("run"), undefined);
    const long = createRunLog({ next: 0, ...quiet });
    for (let at = 0; at < 5; at++) {
      await long.emit(Array.from({ length: 1000 }, () => notice("x")));
    }
    assert.equal(long.recent("run"), undefined);
    const wide = createRunLog({ next: 0, ...quiet });
    await wide.emit([{ type: "text_delta", index: 0, part: 0, delta: "x".repeat(300_000) }]);
    assert.equal(wide.recent("run"), undefined);
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
    // Not awaited on purpose: the failure must neither be lost nor end the process.
    void log.emit([notice("c")]);
    await settle();
    await assert.rejects(log.settled(), { message: "refused" });
    assert.equal(log.next, 1);
  });
});
