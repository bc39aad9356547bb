/**
 * What every `VendorLimits` must do. `age` lets this much time pass, by the clock of the record.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  DEMAND_MS,
  KNOWN_MS,
  type LimitReport,
  type LimitStanding,
  type VendorLimits,
} from "../../src/store/vendor-limits.ts";

export interface OpenedLimits {
  readonly limits: VendorLimits;
  age(ms: number): Promise<void>;
}

const FIRST: LimitReport = {
  account: "a",
  demand: 1,
  limit: 8,
  round: 0,
  base: 0,
  grown: 0,
  maxLimit: 100,
  pauseMs: 0,
};

export function describeVendorLimits(name: string, open: () => Promise<OpenedLimits>): void {
  async function tell(
    limits: VendorLimits,
    process: string,
    more: Partial<LimitReport> = {},
  ): Promise<LimitStanding> {
    const [standing] = await limits.exchange(process, [{ ...FIRST, ...more }]);
    return standing ?? assert.fail("no answer");
  }
  const limitOf = ({ limit, round }: LimitStanding): [number, number] => [limit, round];

  describe(`${name}: the limit of an account`, () => {
    it("is what the first process reports, and each learns what all need", async () => {
      const { limits } = await open();
      const { demands, ...first } = await tell(limits, "p", { limit: 8, demand: 3 });
      assert.deepEqual([first.limit, first.round, first.pauseMs], [8, 0, 0]);
      assert.deepEqual(demands, [{ process: "p", calls: 3 }]);
      const second = await tell(limits, "o", { limit: 50, round: 4, base: 4, demand: 5 });
      assert.deepEqual(limitOf(second), [8, 0]);
      assert.deepEqual(second.demands, [
        { process: "o", calls: 5 },
        { process: "p", calls: 3 },
      ]);
      assert.deepEqual(limitOf(await tell(limits, "p", { account: "b", limit: 2 })), [2, 0]);
    });

    it("grows by the growth of all, up to the bound", async () => {
      const { limits } = await open();
      await tell(limits, "p");
      assert.equal((await tell(limits, "p", { limit: 10, grown: 2 })).limit, 10);
      assert.equal((await tell(limits, "o", { limit: 8.5, grown: 0.5 })).limit, 10.5);
      assert.equal((await tell(limits, "o", { grown: 500 })).limit, 100);
    });

    it("is lowered once for all that were refused in the same round", async () => {
      const { limits } = await open();
      await tell(limits, "p");
      await tell(limits, "o");
      const refused = { limit: 4, round: 1 };
      assert.deepEqual(limitOf(await tell(limits, "p", refused)), [4, 1]);
      assert.deepEqual(limitOf(await tell(limits, "o", refused)), [4, 1]);
      assert.deepEqual(
        limitOf(await tell(limits, "o", { grown: 3 })),
        [4, 1],
        "of the time before",
      );
      assert.deepEqual(limitOf(await tell(limits, "o", { limit: 2, round: 2, base: 1 })), [2, 2]);
      assert.deepEqual(limitOf(await tell(limits, "p", { round: 2, base: 2, grown: 1 })), [3, 2]);
    });

    it("is lowered once when many are refused at once", async () => {
      const { limits } = await open();
      await tell(limits, "p");
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, at) => tell(limits, `p${at}`, { limit: 4, round: 1 })),
      );
      assert.deepEqual(
        all.map(limitOf),
        all.map(() => [4, 1]),
      );
    });

    it("has waits that apply to all, the longest of them", async () => {
      const { limits, age } = await open();
      const own = await tell(limits, "p", { pauseMs: 60_000 });
      assert.ok(own.pauseMs > 50_000 && own.pauseMs <= 60_000, String(own.pauseMs));
      const seen = await tell(limits, "o", { pauseMs: 1000 });
      assert.ok(seen.pauseMs > 50_000 && seen.pauseMs <= 60_000, String(seen.pauseMs));
      assert.equal(seen.pause, own.pause, "the same wait");
      const longer = await tell(limits, "o", { pauseMs: 120_000 });
      assert.notEqual(longer.pause, own.pause);
      assert.equal((await tell(limits, "o", { account: "b" })).pauseMs, 0);
      await age(121_000);
      assert.equal((await tell(limits, "p")).pauseMs, 0);
    });

    it("forgets silent processes, and at last the limit", async () => {
      const { limits, age } = await open();
      await tell(limits, "p", { limit: 4, round: 3, base: 3 });
      await age(DEMAND_MS + 1000);
      const later = await tell(limits, "o");
      assert.deepEqual(limitOf(later), [4, 3]);
      assert.deepEqual(later.demands, [{ process: "o", calls: 1 }]);
      await age(KNOWN_MS + 1000);
      assert.deepEqual(limitOf(await tell(limits, "p", { limit: 64 })), [64, 0]);
    });

    it("is exchanged for several accounts at once, by several processes", async () => {
      const { limits } = await open();
      const reports = ["a", "b", "c"].map((account) => ({ ...FIRST, account, grown: 1 }));
      await limits.exchange("first", reports);
      await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          limits.exchange(`p${at}`, at % 2 === 0 ? reports : [...reports].reverse()),
        ),
      );
      const all = await limits.exchange("last", reports);
      assert.deepEqual(all.map(({ account }) => account).sort(), ["a", "b", "c"]);
      for (const { limit } of all) assert.equal(limit, 8 + 11);
    });
  });
}
