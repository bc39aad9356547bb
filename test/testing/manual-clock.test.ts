import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createManualClock } from "../../src/testing/manual-clock.ts";

describe("manual clock", () => {
  it("stands still until it is moved", async () => {
    const clock = createManualClock(1000);
    assert.equal(clock.now(), 1000);
    await clock.advance(50);
    assert.equal(clock.now(), 1050);
  });

  it("wakes sleeps in the order of their times, each at its own time", async () => {
    const clock = createManualClock();
    const woken: [string, number][] = [];
    const sleep = (name: string, ms: number): Promise<void> =>
      clock.sleep(ms, undefined).then(() => void woken.push([name, clock.now()]));
    const all = [
      sleep("late", 30),
      sleep("early", 10),
      sleep("also early", 10),
      sleep("never", 99),
    ];
    await clock.advance(50);
    assert.deepEqual(woken, [
      ["early", 10],
      ["also early", 10],
      ["late", 30],
    ]);
    assert.equal(clock.sleeping, 1);
    await clock.advance(49);
    await Promise.all(all);
  });

  it("wakes a sleep that a woken sleeper starts, within the same move", async () => {
    const clock = createManualClock();
    const chain = clock.sleep(10, undefined).then(() => clock.sleep(10, undefined));
    await clock.advance(20);
    await chain;
    assert.equal(clock.sleeping, 0);
  });

  it("rejects a sleep with the signal's reason, before and during it", async () => {
    const clock = createManualClock();
    await assert.rejects(clock.sleep(5, AbortSignal.abort(new Error("gone"))), /gone/);
    const control = new AbortController();
    const sleeping = clock.sleep(5, control.signal);
    control.abort(new Error("left"));
    await assert.rejects(sleeping, /left/);
    assert.equal(clock.sleeping, 0);
  });
});
