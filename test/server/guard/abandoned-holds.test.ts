import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createGuardBench } from "./guard-fixture.ts";

const LIMITS = { day: { tokens: 1_000_000 } };
const ONE = { tokens: 1, usd: 0 };
const MINUTES_11 = 660_000;

describe("holds of a process that died", () => {
  it("go after a while, page by page, except for those of runs in progress", async () => {
    const bench = createGuardBench();
    const ids = Array.from({ length: 350 }, (_, n) => `run_${String(n).padStart(3, "0")}`);
    const hold = async (id: string): Promise<unknown> =>
      await bench.spending.hold("k", { id, least: ONE, most: ONE }, LIMITS, bench.clock.now());
    for (const id of ids) await hold(id);
    const isRunning = async (id: string): Promise<boolean> => Number(id.slice(4)) % 7 === 0;
    await bench.guard.budgets.sweep(isRunning);
    assert.equal((await bench.spending.readHolds("k")).length, 350, "nothing is old enough");
    await bench.clock.advance(MINUTES_11);
    await hold("run_new");
    await bench.guard.budgets.sweep(isRunning);
    assert.deepEqual(
      (await bench.spending.readHolds("k")).map(({ id }) => id).toSorted(),
      [...ids.filter((_, n) => n % 7 === 0), "run_new"].toSorted(),
    );
  });

  it("are kept while their run has a purse here, whatever the engine says of it", async () => {
    const bench = createGuardBench();
    const { key } = await bench.makeKey({ limits: { tokens_per_day: 1000 } });
    const purse = await bench.guard.budgets.openPurse(key.id, "run_1");
    const wish = { tokens: 10, usd: 0, turns: 0, tool_calls: 0, children: 0 };
    await purse?.draw?.(wish, wish, new AbortController().signal);
    await bench.clock.advance(MINUTES_11);
    await bench.guard.budgets.sweep(async () => false);
    assert.equal((await bench.spending.readHolds(key.id)).length, 1);
  });
});
