/**
 * What every `Spending` must do. Each implementation calls this from its own test file, with a function that opens a
 * new one; implementations that processes share also call `describeSharedSpending`, with one that opens it twice. A
 * record with runs calls `describeBookedRuns`.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Amounts, Spending, SpendingLimits } from "../../src/store/spending.ts";
import type { Store } from "../../src/store/store.ts";
import { ended, newRun } from "./store-contract.ts";

export const NOON = Date.UTC(2026, 10, 15, 12, 0, 0);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
export const used = (requests: number, tokens = 0, usd = 0, unpriced = 0): Amounts => ({
  requests,
  tokens,
  usd,
  unpriced,
});

export function describeSpending(name: string, open: () => Promise<Spending>): void {
  describeHolds(name, open);

  describe(name, () => {
    it("lists what every key has used, on a day or in all", async () => {
      const spending = await open();
      await spending.take("k", used(1, 10, 0.5), {}, NOON);
      await spending.settle("k", { tokens: 5, unpriced: 5 }, { takenMs: NOON, nowMs: NOON + DAY });
      await spending.take("other", used(2), {}, NOON);
      const byKey = async (dayMs?: number) =>
        (await spending.list(dayMs)).map(({ keyId, ...amounts }) => [keyId, amounts]);
      assert.deepEqual(await byKey(NOON), [
        ["k", used(1, 10, 0.5)],
        ["other", used(2)],
      ]);
      assert.deepEqual(await byKey(NOON + DAY), [["k", used(0, 5, 0, 5)]]);
      assert.deepEqual(await byKey(), [
        ["k", used(1, 15, 0.5, 5)],
        ["other", used(2)],
      ]);
    });

    it("counts in the minute, the day and in all", async () => {
      const spending = await open();
      await spending.take("k", used(1, 10, 0.5), {}, NOON);
      await spending.take("k", used(1, 10, 0.25), {}, NOON + MINUTE - 1);
      await spending.take("k", used(1, 10, 1), {}, NOON + MINUTE);
      await spending.take("k", used(1, 10, 1), {}, NOON + DAY);
      await spending.take("other", used(1), {}, NOON);
      assert.deepEqual(await spending.read("k", NOON), {
        minute: used(2, 20, 0.75),
        day: used(3, 30, 1.75),
        total: used(4, 40, 2.75),
      });
      const none = await spending.read("new", NOON);
      assert.deepEqual(none, { minute: used(0), day: used(0), total: used(0) });
    });

    const cases: Readonly<Record<string, [SpendingLimits, object]>> = {
      "requests of a minute": [
        { minute: { requests: 2 } },
        { window: "minute", unit: "requests", limit: 2, used: 2, retryAfterMs: MINUTE - 1000 },
      ],
      "tokens of a day": [
        { day: { tokens: 29 } },
        { window: "day", unit: "tokens", limit: 29, used: 20, retryAfterMs: DAY / 2 - 1000 },
      ],
      "dollars of all time": [
        { minute: { requests: 9 }, total: { usd: 1.25 } },
        { window: "total", unit: "usd", limit: 1.25, used: 1, retryAfterMs: undefined },
      ],
    };
    for (const [what, [limits, excess]] of Object.entries(cases)) {
      it(`refuses more than the ${what}, and books nothing then`, async () => {
        const spending = await open();
        const now = NOON + 1000;
        for (let n = 0; n < 2; n++) {
          assert.equal(await spending.take("k", used(1, 10, 0.5), limits, now), undefined);
        }
        assert.deepEqual(await spending.take("k", used(1, 10, 0.5), limits, now), excess);
        assert.deepEqual((await spending.read("k", now)).total, used(2, 20, 1));
      });
    }

    it("allows requests again when the window is over", async () => {
      const spending = await open();
      const limits = { minute: { requests: 1 } };
      assert.equal(await spending.take("k", used(1), limits, NOON), undefined);
      assert.ok(await spending.take("k", used(1), limits, NOON + MINUTE - 1));
      assert.equal(await spending.take("k", used(1), limits, NOON + MINUTE), undefined);
    });

    it("allows nothing at the limit, even if it is estimated to cost nothing", async () => {
      const spending = await open();
      const limits = { total: { usd: 1 } };
      assert.equal(await spending.take("k", used(1, 0, 1), limits, NOON), undefined);
      assert.equal((await spending.take("k", used(1), limits, NOON))?.unit, "usd");
      assert.equal((await spending.take("n", used(1), { day: { tokens: 0 } }, NOON))?.limit, 0);
    });

    it("returns to the window it was taken from and counts the excess now", async () => {
      const spending = await open();
      const times = { takenMs: NOON, nowMs: NOON + 2 * MINUTE };
      await spending.take("k", used(1, 100, 2), {}, NOON);
      await spending.settle("k", { tokens: -60, usd: 1.5 }, times);
      assert.deepEqual((await spending.read("k", times.takenMs)).minute, used(1, 40, 2));
      const now = await spending.read("k", times.nowMs);
      assert.deepEqual([now.minute, now.day], [used(0, 0, 1.5), used(1, 40, 3.5)]);
      assert.deepEqual(now.total, used(1, 40, 3.5));
    });

    it("removes old minutes, and a key as a whole", async () => {
      const spending = await open();
      await spending.take("k", used(1), {}, NOON);
      await spending.take("k", used(1), {}, NOON + MINUTE);
      await spending.prune(NOON + MINUTE);
      const kept = await spending.read("k", NOON);
      assert.deepEqual([kept.minute, kept.day, kept.total], [used(0), used(2), used(2)]);
      assert.deepEqual((await spending.read("k", NOON + MINUTE)).minute, used(1));
      await spending.forget("k");
      assert.deepEqual((await spending.read("k", NOON + MINUTE)).total, used(0));
    });

    it("accepts any text as a key", async () => {
      const spending = await open();
      for (const key of ["nul\0a", "nul\0b", '"q"', ""]) {
        await spending.take(key, used(1), {}, NOON);
        assert.deepEqual((await spending.read(key, NOON)).total, used(1));
      }
    });
  });
}

function describeHolds(name: string, open: () => Promise<Spending>): void {
  const LEAST = both(1);
  const hold = async (spending: Spending, id: string, tokens: number) =>
    await spending.hold("k", { id, least: LEAST, most: both(tokens) }, LIMITS, NOON);

  describe(`${name}: holds`, () => {
    it("with what is used never exceed a budget, in any order", async () => {
      await fc.assert(
        fc.asyncProperty(acts, async (done) => {
          const spending = await open();
          await play([spending, spending], done);
        }),
        { numRuns: 30 },
      );
    });

    it("are given to concurrent callers as if they had asked one after the other", async () => {
      const spending = await open();
      const ids = Array.from({ length: 12 }, (_, n) => `run_${String(n).padStart(2, "0")}`);
      const wish = { least: both(300), most: both(300) };
      const asked = ids.map((id) => spending.hold("k", { id, ...wish }, LIMITS, NOON));
      const given = (await Promise.all(asked)).map(({ held }) => held);
      // A database of many processes serves them in an order of its own.
      given.sort((one, other) => other.tokens - one.tokens || other.usd - one.usd);
      const none = ids.slice(3).map(() => both(0));
      // Of each unit by itself: three times 300 of 1000 tokens, twice $3 of $8.
      assert.deepEqual(given, [both(300), both(300), { tokens: 300, usd: 0 }, ...none]);
    });

    it("report which limits prevent more, at the same moment", async () => {
      const spending = await open();
      await spending.take("k", used(1, 100, 0.5), {}, NOON);
      const other = { id: "other", least: both(400), most: both(400) };
      await spending.hold("k", other, LIMITS, NOON);
      const { held, shortages } = await spending.hold(
        "k",
        { id: "run", least: both(700), most: both(700) },
        LIMITS,
        NOON,
      );
      assert.deepEqual(held, both(0));
      assert.deepEqual(shortages, [
        {
          window: "day",
          unit: "tokens",
          limit: 1000,
          used: 100,
          retryAfterMs: DAY / 2,
          heldByOthers: 400,
        },
        {
          window: "total",
          unit: "usd",
          limit: 8,
          used: 0.5,
          retryAfterMs: undefined,
          heldByOthers: 4,
        },
      ]);
    });

    it("that were not kept are listed in pages, and removed unless kept meanwhile", async () => {
      const spending = await open();
      for (const id of ["a", "nul\0", "c", "kept", "later"]) await hold(spending, id, 10);
      await spending.keepHolds(["kept"], NOON + MINUTE);
      const stale: string[] = [];
      for (let after: string | undefined; ; after = stale.at(-1)) {
        const page = await spending.listStaleHolds({ beforeMs: NOON + 1, after, limit: 2 });
        stale.push(...page);
        if (page.length < 2) break;
      }
      assert.deepEqual(stale.toSorted(), ["a", "c", "later", "nul\0"]);
      await spending.keepHolds(["later"], NOON + MINUTE);
      await spending.dropHolds(["a", "nul\0", "later", "unknown"], NOON + 1);
      const left = (await spending.readHolds("k")).map(({ id }) => id);
      assert.deepEqual(left.toSorted(), ["c", "kept", "later"]);
    });

    it("are removed with their key", async () => {
      const spending = await open();
      await hold(spending, "run", 10);
      await spending.forget("k");
      assert.deepEqual(await spending.readHolds("k"), []);
    });
  });
}

/** What every record must do that has both runs and spending. */
export function describeBookedRuns(
  name: string,
  open: () => Promise<{ readonly store: Store; readonly spending: Spending }>,
  { isShared } = { isShared: true },
): void {
  /** A record with one claimed run at epoch 1, which holds something of its key's budget. */
  const openWithHold = async () => {
    const record = await open();
    await record.store.createRun(newRun("run_1"));
    await record.store.claim("run_1", "worker_1");
    const wish = { least: both(10), most: both(10) };
    for (const id of ["run_1", "other"]) {
      await record.spending.hold("k", { id, ...wish }, LIMITS, NOON);
    }
    return record;
  };
  const settles = { keyId: "k", used: { tokens: 7, usd: 0.5, unpriced: 2 }, nowMs: NOON };
  const readHeld = async (spending: Spending): Promise<string[]> =>
    (await spending.readHolds("k")).map(({ id }) => id);

  describe(`${name}: what runs have used`, () => {
    it("is booked with their ending, which ends what they held", async () => {
      const { store, spending } = await openWithHold();
      await store.finish("run_1", 1, { ...ended(0), settles });
      assert.deepEqual(await spending.read("k", NOON), {
        minute: used(0, 7, 0.5, 2),
        day: used(0, 7, 0.5, 2),
        total: used(0, 7, 0.5, 2),
      });
      assert.deepEqual(await readHeld(spending), ["other"]);
      await store.close();
    });

    it("is booked by no ending that is refused, and by no second one", async () => {
      const { store, spending } = await openWithHold();
      assert.equal(await store.claim("run_1", "worker_2"), 2);
      const end = { ...ended(0), settles };
      await assert.rejects(store.finish("run_1", 1, end), { code: "fenced" });
      await assert.rejects(store.finish("run_1", 2, { ...ended(5), settles }));
      assert.deepEqual((await spending.read("k", NOON)).total, used(0));
      assert.deepEqual((await readHeld(spending)).toSorted(), ["other", "run_1"]);
      await store.finish("run_1", 2, end);
      await assert.rejects(store.finish("run_1", 2, { ...ended(1), settles }));
      assert.deepEqual((await spending.read("k", NOON)).total, used(0, 7, 0.5, 2));
      await store.close();
    });

    // A record without sharing has no late callers.
    it("is not reserved for a run that has ended", { skip: !isShared }, async () => {
      const { store, spending } = await openWithHold();
      await store.finish("run_1", 1, { ...ended(0), settles });
      const wish = { id: "run_1", least: both(10), most: both(10) };
      await spending.hold("k", wish, LIMITS, NOON);
      assert.deepEqual(await readHeld(spending), ["other"]);
      await store.close();
    });

    it("is nothing if a run has no key", async () => {
      const { store, spending } = await openWithHold();
      await store.finish("run_1", 1, ended(0));
      assert.deepEqual((await spending.read("k", NOON)).total, used(0));
      await store.close();
    });
  });
}

/** What two processes see of one record. */
export function describeSharedSpending(
  name: string,
  openTwo: () => Promise<readonly [Spending, Spending]>,
): void {
  describe(`${name}, of two processes`, () => {
    it("gives the last of an allowance to one of them", async () => {
      const sides = await openTwo();
      const limits = { total: { requests: 5 } };
      const taken = await Promise.all(
        Array.from({ length: 12 }, (_, n) => sides[n % 2]?.take("k", used(1), limits, NOON)),
      );
      assert.equal(taken.filter((excess) => excess === undefined).length, 5);
    });

    it("holds at most one budget for both, in any order", async () => {
      await fc.assert(
        fc.asyncProperty(acts, async (done) => await play(await openTwo(), done)),
        { numRuns: 15 },
      );
    });
  });
}

const both = (tokens: number): { tokens: number; usd: number } => ({ tokens, usd: tokens / 100 });
const UNKNOWN = { tokens: Number.POSITIVE_INFINITY, usd: Number.POSITIVE_INFINITY };

interface Act {
  readonly what: "hold" | "settle";
  readonly run: number;
  readonly process: number;
  readonly least: number;
  /** The amount above the least; undefined if it is not known. */
  readonly more: number | undefined;
  /** The share of the hold that was used. */
  readonly share: number;
}

const acts = fc.array(
  fc.record<Act>({
    what: fc.constantFrom("hold", "settle"),
    run: fc.nat({ max: 5 }),
    process: fc.nat({ max: 1 }),
    least: fc.nat({ max: 400 }),
    more: fc.option(fc.nat({ max: 400 }), { nil: undefined }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { minLength: 10, maxLength: 40, size: "max" },
);

const LIMITS = { day: { tokens: 1000 }, total: { usd: 8 } };

/** Any number of responses, in two processes, that use at most what they hold. */
async function play(processes: readonly Spending[], done: readonly Act[]): Promise<void> {
  const held = new Map<string, { tokens: number; usd: number }>();
  for (const act of done) {
    const spending = processes[act.process] ?? assert.fail();
    const id = `run_${act.run}`;
    if (act.what === "hold") {
      const most = act.more === undefined ? UNKNOWN : both(act.least + act.more);
      const wish = { id, least: both(act.least), most };
      const { held: given } = await spending.hold("k", wish, LIMITS, NOON);
      if (given.tokens + given.usd > 0) held.set(id, given);
    } else {
      const { tokens, usd } = held.get(id) ?? both(0);
      const used = { tokens: Math.floor(tokens * act.share), usd: usd * act.share };
      await spending.settle("k", used, { takenMs: NOON, nowMs: NOON, holdId: id });
      held.delete(id);
    }
    const { day, total } = await spending.read("k", NOON);
    const all = [...held.values()];
    const tokens = all.reduce((sum, hold) => sum + hold.tokens, day.tokens);
    const usd = all.reduce((sum, hold) => sum + hold.usd, total.usd);
    assert.ok(tokens <= 1000, `${tokens} tokens`);
    assert.ok(usd <= 8 + 1e-9, `$${usd}`);
    const rows = await spending.readHolds("k");
    assert.deepEqual(
      new Map(rows.map(({ id: name, ...amounts }) => [name, amounts])),
      new Map([...held].sort()),
    );
  }
}
