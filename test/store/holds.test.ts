import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { type Hold, toHeld } from "../../src/store/holds.ts";
import { createMemorySpending, createSpending, type Spending } from "../../src/store/spending.ts";
import { type Database, openDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { openSqliteStores } from "../../src/store/sqlite/sqlite-store.ts";
import { newDatabasePath } from "./database-path.ts";

const NOW = Date.UTC(2026, 10, 15, 12);
const both = (tokens: number): { tokens: number; usd: number } => ({ tokens, usd: tokens / 100 });
const UNKNOWN = { tokens: Number.POSITIVE_INFINITY, usd: Number.POSITIVE_INFINITY };

describe("the part of one who does not say what it needs", () => {
  it("is half for the first, and still something for those who come when it holds that", () => {
    const all: Hold[] = [];
    for (let n = 0; n < 5; n++) {
      const wish = { id: `run_${n}`, least: both(0), most: UNKNOWN };
      all.push({ id: wish.id, ...toHeld(wish, all, both(6000)) });
    }
    assert.deepEqual(
      all.map(({ tokens }) => tokens),
      [3000, 1000, 500, 300, 200],
    );
  });

  it("grows when it has used what it had, and not by asking again", () => {
    const ask = (used: number, held: number): number =>
      toHeld(
        { id: "a", least: both(used), most: UNKNOWN },
        [{ id: "a", ...both(held) }],
        both(1000),
      ).tokens;
    assert.equal(ask(0, 500), 500);
    assert.equal(ask(500, 500), 750);
    assert.equal(ask(999, 750), 1000);
  });

  it("is never less than the least, while that is there", () => {
    const wish = { id: "b", least: both(390), most: UNKNOWN };
    assert.equal(toHeld(wish, [{ id: "a", ...both(600) }], both(1000)).usd, 3.9 + 0.1 / 3);
    assert.equal(
      toHeld({ ...wish, least: both(401) }, [{ id: "a", ...both(600) }], both(1000)).tokens,
      0,
    );
  });

  it("is all of a rest of tokens that is too small for two", () => {
    const wish = { id: "b", least: both(10), most: UNKNOWN };
    assert.equal(toHeld(wish, [{ id: "a", ...both(900) }], both(1000)).tokens, 100);
    assert.equal(toHeld(wish, [{ id: "a", ...both(600) }], both(1000)).tokens, 140);
  });
});

describe("the part of one who says what it needs", () => {
  it("is that, and no more", () => {
    const wish = { id: "a", least: both(20), most: both(120) };
    assert.deepEqual(toHeld(wish, [], both(1000)), both(120));
  });

  it("is nothing of what has no limit", () => {
    const wish = { id: "a", least: both(0), most: both(120) };
    const available = { tokens: Number.POSITIVE_INFINITY, usd: 1 };
    assert.deepEqual(toHeld(wish, [], available), { tokens: 0, usd: 0.5 });
  });
});

const databases: Database[] = [];
after(() => {
  for (const db of databases) db.close();
});

async function openTwo(): Promise<[Spending, Spending]> {
  const path = newDatabasePath();
  const opened = [await openDatabase(path), await openDatabase(path)] as const;
  databases.push(...opened);
  return [createSpending(opened[0]), createSpending(opened[1])];
}

interface Act {
  readonly what: "hold" | "settle";
  readonly run: number;
  readonly process: number;
  readonly least: number;
  /** Beyond the least; none where nobody knows. */
  readonly more: number | undefined;
  /** Of what is held, how much was used. */
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
      const given = spending.hold("k", wish, LIMITS, NOW);
      if (given.tokens + given.usd > 0) held.set(id, given);
    } else {
      const { tokens, usd } = held.get(id) ?? both(0);
      const used = { tokens: Math.floor(tokens * act.share), usd: usd * act.share };
      await spending.settle("k", used, { takenMs: NOW, nowMs: NOW, holdId: id });
      held.delete(id);
    }
    const { day, total } = await spending.read("k", NOW);
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

describe("holds", () => {
  it("with what is used never exceed a budget, whatever comes in which order", async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (done) => {
        const spending = createMemorySpending();
        await play([spending, spending], done);
      }),
    );
  });

  it("do not either in two processes over one file", async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (done) => await play(await openTwo(), done)),
      { numRuns: 15 },
    );
  });

  it("of a process that died go after a while, but for those of runs that can be taken over", async () => {
    const path = newDatabasePath();
    const { store, chunksDb, close } = await openSqliteStores(path);
    const run = { id: "run_left", parent_id: null, path: "/root", name: "response", input: null };
    await store.createRun({ ...run, title: "", created_at_ms: NOW });
    const spending = createSpending(chunksDb);
    for (const id of ["run_left", "run_gone", "run_kept"]) {
      spending.hold("k", { id, least: both(1), most: both(10) }, LIMITS, NOW);
    }
    await spending.keepHolds(["run_kept"], NOW + 60_000);
    await spending.dropHolds(NOW + 1);
    const ids = (await spending.readHolds("k")).map(({ id }) => id);
    assert.deepEqual(ids, ["run_kept", "run_left"]);
    await spending.forget("k");
    assert.deepEqual(await spending.readHolds("k"), []);
    await close();
  });
});
