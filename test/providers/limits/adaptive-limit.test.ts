import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AdaptiveLimit } from "../../../src/providers/limits/adaptive-limit.ts";

const ALONE = [{ process: "self", calls: 1 }];

function open(start = 8): AdaptiveLimit {
  return new AdaptiveLimit(start, 100);
}

describe("a limit that processes share", () => {
  it("is taken over from the others, plus its own growth since the report", () => {
    const limit = open();
    limit.grow();
    const told = limit.report();
    assert.deepEqual(told, { limit: 9, round: 0, base: 0, grown: 1, maxLimit: 100 });
    limit.grow();
    limit.adopt({ limit: 20, round: 0, demands: ALONE }, told, "self");
    assert.deepEqual(limit.report(), { limit: 21, round: 0, base: 0, grown: 1, maxLimit: 100 });
  });

  it("is reported again if there was no answer", () => {
    const limit = open();
    limit.grow();
    limit.report();
    limit.grow();
    assert.equal(limit.report().grown, 2);
  });

  it("loses its growth from before the others were refused", () => {
    const limit = open();
    limit.grow();
    limit.adopt({ limit: 4, round: 1, demands: ALONE }, limit.report(), "self");
    assert.deepEqual(limit.report(), { limit: 4, round: 1, base: 1, grown: 0, maxLimit: 100 });
    limit.shrink(0);
    assert.equal(limit.share, 4, "calls of the time before say nothing");
  });

  it("keeps its own value if it was refused since the report, unless the others were, too", () => {
    const told = open().report();
    const ahead = open();
    ahead.shrink(0);
    ahead.adopt({ limit: 9, round: 0, demands: ALONE }, told, "self");
    assert.deepEqual(ahead.report(), { limit: 4, round: 1, base: 0, grown: 0, maxLimit: 100 });
    const behind = open();
    behind.shrink(0);
    behind.adopt({ limit: 3, round: 1, demands: ALONE }, told, "self");
    assert.deepEqual(behind.report(), { limit: 3, round: 1, base: 1, grown: 0, maxLimit: 100 });
  });

  it("is divided by need, and whole again without the others", () => {
    const limit = open();
    const demands = [
      { process: "other", calls: 6 },
      { process: "self", calls: 6 },
    ];
    limit.adopt({ limit: 8, round: 0, demands }, limit.report(), "self");
    assert.deepEqual([limit.share, limit.isReached(2), limit.isReached(1)], [4, true, false]);
    assert.deepEqual([limit.isOutgrown(12), limit.isOutgrown(13)], [false, true]);
    limit.shrink(0);
    assert.equal(limit.share, 2);
    limit.standAlone();
    assert.deepEqual([limit.share, limit.isReached(0), limit.isOutgrown(99)], [4, true, false]);
  });
});
