import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { toShare } from "../../../src/providers/limits/shares.ts";

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

function sharesOf(limit: number, calls: readonly number[], turn = 0): number[] {
  const demands = calls.map((one, at) => ({ process: `p${at}`, calls: one }));
  return demands.map(({ process }) => toShare(limit, { demands, self: process, turn }));
}

describe("the shares of a limit", () => {
  const cases: Readonly<Record<string, [number, number[], number[]]>> = {
    "are the whole limit for one alone": [8, [3], [8]],
    "are what each needs and a part of the rest": [10, [4, 1, 0], [6, 3, 1]],
    "are by need where there is too little": [4, [30, 10, 0], [3, 1, 1]],
    "leave no rest": [4, [9, 9, 9], [2, 1, 1]],
    "are one at least": [1, [100, 1, 1], [1, 1, 1]],
    "are not held for those who need nothing": [4, [9, 0, 0], [4, 1, 1]],
  };
  for (const [name, [limit, calls, shares]] of Object.entries(cases)) {
    it(name, () => assert.deepEqual(sharesOf(limit, calls), shares));
  }

  it("are the whole limit for a process that the others do not know yet", () => {
    const demands = [{ process: "other", calls: 3 }];
    assert.equal(toShare(7, { demands, self: "new", turn: 0 }), 7);
  });

  it("give the remainder to each in turn", () => {
    const turns = [0, 1, 2, 3].map((turn) => sharesOf(4, [9, 9, 9], turn));
    assert.deepEqual(turns, [
      [2, 1, 1],
      [1, 1, 2],
      [1, 2, 1],
      [2, 1, 1],
    ]);
  });

  it("add up to the limit and at most one for each, starve none and waste nothing", () => {
    const limits = fc.integer({ min: 1, max: 20_000 });
    const needs = fc.array(fc.nat(5000), { minLength: 1, maxLength: 20 });
    const property = fc.property(limits, needs, fc.nat(99), (limit, calls, turn) => {
      const shares = sharesOf(limit, calls, turn);
      assert.ok(sum(shares) <= limit + calls.length, "too much");
      assert.ok(sum(shares) >= limit, "something is wasted");
      assert.ok(
        shares.every((share) => Number.isInteger(share) && share >= 1),
        "one is starved",
      );
      const isHeld = shares.some((share, at) => share < (calls[at] ?? 0));
      assert.ok(sum(calls) > limit || !isHeld, "one is held back without a reason");
      const byNeed = [...calls.keys()].sort((a, b) => (calls[a] ?? 0) - (calls[b] ?? 0));
      const sorted = byNeed.map((at) => shares[at] ?? 0);
      const isLess = sorted.some((share, at) => share < (sorted[at - 1] ?? 0) - 1);
      assert.ok(!isLess, "one that needs more has less");
    });
    fc.assert(property, { numRuns: 500 });
  });
});
