/**
 * Trees of accounts whose money comes from a record that answers late, in any order, or not at all.
 * Every answer and every model call is a task of one scheduler, which runs them in an order of its own.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type Account, createAccount, type Purse, takeDrawn } from "../../../src/agent/account.ts";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import { createPayer } from "../../../src/agent/payer.ts";
import { NEVER } from "../../../src/base/async.ts";
import { BUSY_LIMIT_MS } from "../../../src/base/busy.ts";
import { Failure } from "../../../src/base/failure.ts";
import { nextTurn } from "../../../src/base/turn.ts";
import { createBudgets } from "../../../src/server/guard/budgets.ts";
import { createKey } from "../../../src/server/guard/keys.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createMemorySpending } from "../../../src/store/memory/memory-spending.ts";
import type { Spending } from "../../../src/store/spending.ts";
import { createManualClock } from "../../../src/testing/index.ts";

const BUDGET = 1000;

/** A run: its own calls, with children that are started after the first of them. */
interface Plan {
  readonly calls: readonly { readonly tokens: number; readonly share: number }[];
  readonly children: readonly Plan[];
}

const call = fc.record({
  tokens: fc.integer({ min: 1, max: 400 }),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
});
const { plan } = fc.letrec<{ plan: Plan }>((tie) => ({
  plan: fc.record<Plan>({
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    children: fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie("plan"), { maxLength: 3 })),
  }),
}));

type Delay = (label: string) => Promise<unknown>;

interface Bench {
  readonly openPurse: (runId: string) => Promise<Purse | undefined>;
  readonly end: (runId: string, spent: number) => Promise<void>;
  readonly spending: Spending;
  readonly keyId: string;
}

/** A key with a budget, in a record that answers when `delay` lets it, and is busy when `isBusy` says so. */
async function openBench(delay: Delay, isBusy: () => boolean): Promise<Bench> {
  const shelf = createMemoryShelf();
  const clock = createManualClock(Date.UTC(2030, 0, 1, 12));
  const kept = createMemorySpending();
  const spending: Spending = {
    ...kept,
    async hold(...asked) {
      await delay("asked");
      if (isBusy()) throw new Failure("store_busy", "Another process is writing.");
      const answer = await kept.hold(...asked);
      await delay("answered");
      return answer;
    },
  };
  const { key } = await createKey(
    { shelf, clock },
    { name: "test", limits: { tokens_per_day: BUDGET } },
  );
  const { openPurse, charge } = createBudgets({ spending, shelf, clock });
  return {
    openPurse: (runId) => openPurse(key.id, runId),
    end: (runId, tokens) => charge(key.id, { tokens, usd: 0 }, runId),
    spending: kept,
    keyId: key.id,
  };
}

/** The spending of all trees together, at every moment. */
class Watch {
  readonly #bench: Bench;
  readonly #roots = new Map<string, Account>();
  #outThere = 0;
  ended = 0;

  constructor(bench: Bench) {
    this.#bench = bench;
  }

  add(runId: string, account: Account): void {
    this.#roots.set(runId, account);
  }

  /** Tokens that may be spent now, or were spent. */
  move(tokens: number): void {
    this.#outThere += tokens;
    assert.ok(this.#outThere <= BUDGET, `${this.#outThere} tokens of ${BUDGET}`);
  }

  async check(): Promise<void> {
    const { spending, keyId } = this.#bench;
    const holds = await spending.readHolds(keyId);
    const held = holds.reduce((sum, hold) => sum + hold.tokens, 0);
    assert.ok(held + this.ended <= BUDGET, `${held} held, ${this.ended} booked`);
    for (const [runId, { limits, left }] of this.#roots) {
      const inRecord = holds.find(({ id }) => id === runId)?.tokens ?? 0;
      assert.ok((limits.tokens ?? 0) <= inRecord, `${runId} has more than is held for it`);
      assert.ok(left.tokens >= 0, `${left.tokens} left`);
    }
  }

  async end(runId: string): Promise<void> {
    const { spent } = this.#roots.get(runId) ?? assert.fail();
    this.#roots.delete(runId);
    await this.#bench.end(runId, spent.tokens);
    this.ended += spent.tokens;
  }
}

function assertRefused(thrown: unknown): void {
  assert.ok(thrown instanceof Failure, String(thrown));
  assert.ok(["budget_exceeded", "store_busy"].includes(thrown.code), thrown.message);
}

async function runPlan(account: Account, { calls, children }: Plan, parts: Parts): Promise<void> {
  const [first, ...rest] = calls;
  if (first) await makeCall(account, first, parts);
  children.forEach((_, at) => void account.family.announce(String(at), 1));
  await Promise.all(children.map((child, at) => runChild(account, [String(at), child], parts)));
  for (const one of rest) await makeCall(account, one, parts);
}

interface Parts {
  readonly delay: Delay;
  readonly watch: Watch;
}

async function makeCall(
  account: Account,
  { tokens, share }: Plan["calls"][number],
  { delay, watch }: Parts,
): Promise<void> {
  const wish = { least: { tokens }, most: { tokens }, signal: NEVER };
  try {
    await account.gather(wish.least, wish.most, NEVER);
    const hold = await takeDrawn(account, wish, () => account.hold({ tokens }));
    watch.move(tokens);
    await delay("model");
    await watch.check();
    const used = Math.floor(tokens * share);
    watch.move(used - tokens);
    hold.settle({ tokens: used });
  } catch (thrown) {
    assertRefused(thrown);
  }
  await watch.check();
}

async function runChild(
  parent: Account,
  [callKey, child]: [string, Plan],
  parts: Parts,
): Promise<void> {
  const first = { tokens: child.calls[0]?.tokens ?? 1 };
  try {
    const newcomer = { callKey, ceiling: {}, enough: first, least: { tokens: 1 } };
    const account = await parent.family.admit(newcomer, NEVER);
    await runPlan(account, child, parts);
    account.close();
  } catch (thrown) {
    assertRefused(thrown);
  }
  parent.family.withdraw(callKey);
}

describe("trees whose money comes from a slow record", () => {
  it("never spend more than there is, in whatever order it answers", async () => {
    const busy = fc.array(fc.boolean(), { maxLength: 30 });
    const roots = fc.array(plan, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), roots, busy, async (scheduler, plans, answers) => {
        const turns = answers.values();
        const delay: Delay = (label) => scheduler.schedule(Promise.resolve(), label);
        const bench = await openBench(delay, () => turns.next().value ?? false);
        const watch = new Watch(bench);
        const runs = plans.map(async (one, at) => {
          const runId = `run_${at}`;
          try {
            const account = createAccount(NO_LIMITS, await bench.openPurse(runId));
            watch.add(runId, account);
            await runPlan(account, one, { delay, watch });
            await watch.end(runId);
          } catch (thrown) {
            // The first answer of the record was that it is busy.
            assertRefused(thrown);
          }
        });
        // All of them end: none waits for money that cannot come.
        let ended = 0;
        const all = Promise.all(runs.map((run) => run.then(() => ended++)));
        all.catch(() => {});
        await nextTurn();
        while (scheduler.count() > 0) {
          await scheduler.waitNext(1);
          await nextTurn();
        }
        await Promise.race([all, nextTurn()]);
        assert.equal(ended, runs.length, "a run waits for ever");
        await watch.check();
        assert.deepEqual(await bench.spending.readHolds(bench.keyId), []);
      }),
      { numRuns: 150 },
    );
  });
});

describe("a hold that the record does not give", () => {
  const busy = { code: "store_busy", message: /./ };

  async function openOne(hold: (kept: Spending) => Spending["hold"]) {
    const shelf = createMemoryShelf();
    const clock = createManualClock(Date.UTC(2030, 0, 1, 12));
    const kept = createMemorySpending();
    const limits = { tokens_per_day: BUDGET };
    const { key } = await createKey({ shelf, clock }, { name: "test", limits });
    const parts = { spending: { ...kept, hold: hold(kept) }, shelf, clock };
    return { ...createBudgets(parts), kept, key, clock };
  }

  it("refuses the call with the reason, makes none, and holds nothing", async () => {
    let isBusy = false;
    const { openPurse, kept, key } = await openOne((real) => async (...asked) => {
      if (isBusy) throw new Failure("store_busy", "Another process is writing.");
      return await real.hold(...asked);
    });
    const account = createAccount(NO_LIMITS, await openPurse(key.id, "run"));
    isBusy = true;
    const payer = createPayer(account);
    const made = payer.pay({ tokens: 10, usd: 0 }, async () => assert.fail("it was made"));
    await assert.rejects(made, { code: "store_busy", message: "Another process is writing." });
    const child = { callKey: "c", ceiling: {}, enough: { tokens: 10 }, least: { tokens: 1 } };
    await assert.rejects(account.family.admit(child, NEVER), busy);
    assert.deepEqual([account.left.tokens, account.spent.tokens], [0, 0]);
    assert.deepEqual(await kept.readHolds(key.id), []);
    isBusy = false;
    assert.equal((await account.family.admit(child, NEVER)).left.tokens >= 10, true);
  });

  it("is not waited for longer than for a busy record, and ends when it comes late", async () => {
    let answer = (): void => {};
    let isSlow = false;
    const { openPurse, charge, kept, key, clock } = await openOne((real) => async (...asked) => {
      const answered = await real.hold(...asked);
      if (isSlow)
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
      return answered;
    });
    const account = createAccount(NO_LIMITS, await openPurse(key.id, "run"));
    isSlow = true;
    const held = takeDrawn(account, { least: { tokens: 10 }, most: { tokens: 10 } }, () =>
      account.hold({ tokens: 10 }),
    );
    const refused = assert.rejects(held, busy);
    await nextTurn();
    await clock.advance(BUSY_LIMIT_MS);
    await refused;
    assert.equal(account.left.tokens, 0);
    const before = kept.readHolds(key.id);
    assert.equal((await before).length, 1);
    await charge(key.id, { tokens: 0, usd: 0 }, "run");
    // Set aside by the record after the run has ended.
    await kept.hold(key.id, { id: "run", least: TEN, most: TEN }, { day: { tokens: BUDGET } }, 0);
    answer();
    await nextTurn();
    assert.deepEqual(await kept.readHolds(key.id), []);
  });

  const TEN = { tokens: 10, usd: 0 };
});
