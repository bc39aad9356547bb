import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIds } from "../../src/base/ids.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";

describe("ids", () => {
  it("are a prefix and 26 characters of one alphabet", () => {
    assert.match(createIds()("run"), /^run_[0-9a-hjkmnp-tv-z]{26}$/);
    assert.match(createIds()("msg"), /^msg_[0-9a-hjkmnp-tv-z]{26}$/);
  });

  it("sort by the time they were made", async () => {
    const clock = createManualClock(1_700_000_000_000);
    const makeId = createIds(clock);
    const ids: string[] = [];
    for (const stepMs of [1, 31, 32, 1000, 86_400_000, 40 * 365 * 86_400_000]) {
      ids.push(makeId("run"));
      await clock.advance(stepMs);
    }
    assert.deepEqual([...ids].sort(), ids);
  });

  it("of the same millisecond are all different and sort in the order they were made", () => {
    const makeId = createIds(createManualClock(1_700_000_000_000));
    const ids = Array.from({ length: 5000 }, () => makeId("run"));
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual([...ids].sort(), ids);
  });

  it("are whole and different when the clock stands at 0", () => {
    const makeId = createIds(createManualClock(0));
    const ids = [makeId("run"), makeId("run")];
    for (const id of ids) assert.equal(id.length, "run_".length + 26);
    assert.notEqual(ids[0], ids[1]);
  });

  it("sort in the order they were made when the clock goes back", () => {
    let nowMs = 2000;
    const makeId = createIds({ now: () => nowMs, sleep: () => Promise.resolve() });
    const before = makeId("run");
    nowMs = 1000;
    assert.ok(makeId("run") > before);
  });

  it("of two makers differ in the same millisecond", () => {
    const clock = createManualClock(1000);
    assert.notEqual(createIds(clock)("run"), createIds(clock)("run"));
  });
});
