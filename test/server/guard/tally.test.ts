import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { createTally } from "../../../src/server/guard/tally.ts";
import { createMemorySpending } from "../../../src/store/memory/memory-spending.ts";
import type { Spending } from "../../../src/store/spending.ts";
import { createManualClock } from "../../../src/testing/index.ts";

describe("the use of keys without limits", () => {
  it("is written with the next write if the record was busy, once", async () => {
    const spending = createMemorySpending();
    const clock = createManualClock(1000);
    let busy = "b";
    const settle: Spending["settle"] = async (keyId, ...asked) => {
      if (keyId === busy) throw new Failure("store_busy", "Another process writes.");
      await spending.settle(keyId, ...asked);
    };
    const tally = createTally({ spending: { ...spending, settle }, clock });
    for (const key of ["a", "b", "c"]) tally.add(key, { requests: 1, tokens: 5 });
    await assert.rejects(tally.flush(), { code: "store_busy" });
    tally.add("c", { requests: 1 });
    busy = "";
    await tally.flush();
    await tally.flush();
    const used = async (key: string): Promise<number[]> => {
      const { total } = await spending.read(key, clock.now());
      return [total.requests, total.tokens];
    };
    const all = await Promise.all(["a", "b", "c"].map(used));
    assert.deepEqual(all, [
      [1, 5],
      [1, 5],
      [2, 5],
    ]);
  });
});
