import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import {
  type Amounts,
  createMemorySpending,
  createSpending,
  type Limits,
  type Spending,
} from "../../src/store/spending.ts";
import { type Database, openDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { dropParts, newDatabasePath } from "./database-path.ts";

const databases: Database[] = [];
after(() => {
  for (const db of databases) db.close();
});
async function openSpending(path = newDatabasePath()): Promise<Spending> {
  const db = await openDatabase(path);
  databases.push(db);
  return createSpending(db);
}

const NOON = Date.UTC(2026, 10, 15, 12, 0, 0);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const used = (requests: number, tokens = 0, usd = 0, unpriced = 0): Amounts => ({
  ...{ requests, tokens, usd, unpriced },
});

function describeSpending(name: string, open: () => Promise<Spending>): void {
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

    it("counts in the minute, the day and the whole", async () => {
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

    const cases: Readonly<Record<string, [Limits, object]>> = {
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

    it("lets in again when the window is over", async () => {
      const spending = await open();
      const limits = { minute: { requests: 1 } };
      assert.equal(await spending.take("k", used(1), limits, NOON), undefined);
      assert.ok(await spending.take("k", used(1), limits, NOON + MINUTE - 1));
      assert.equal(await spending.take("k", used(1), limits, NOON + MINUTE), undefined);
    });

    it("lets nothing in at the limit, even what is guessed to cost nothing", async () => {
      const spending = await open();
      const limits = { total: { usd: 1 } };
      assert.equal(await spending.take("k", used(1, 0, 1), limits, NOON), undefined);
      assert.equal((await spending.take("k", used(1), limits, NOON))?.unit, "usd");
      assert.equal((await spending.take("n", used(1), { day: { tokens: 0 } }, NOON))?.limit, 0);
    });

    it("gives back where it was taken and counts what was more now", async () => {
      const spending = await open();
      const times = { takenMs: NOON, nowMs: NOON + 2 * MINUTE };
      await spending.take("k", used(1, 100, 2), {}, NOON);
      await spending.settle("k", { tokens: -60, usd: 1.5 }, times);
      assert.deepEqual((await spending.read("k", times.takenMs)).minute, used(1, 40, 2));
      const now = await spending.read("k", times.nowMs);
      assert.deepEqual([now.minute, now.day], [used(0, 0, 1.5), used(1, 40, 3.5)]);
      assert.deepEqual(now.total, used(1, 40, 3.5));
    });

    it("forgets old minutes, and a key as a whole", async () => {
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

    it("takes any text for a key", async () => {
      const spending = await open();
      for (const key of ["nul\0a", "nul\0b", '"q"', ""]) {
        await spending.take(key, used(1), {}, NOON);
        assert.deepEqual((await spending.read(key, NOON)).total, used(1));
      }
    });
  });
}

describeSpending("spending in SQLite", () => openSpending());
describeSpending("spending in memory", async () => createMemorySpending());

describe("spending in SQLite, of an earlier version", () => {
  it("takes tokens that had no price for tokens whose price is not known", async () => {
    const path = newDatabasePath();
    const before = await openDatabase(path);
    dropParts(before);
    before.run("alter table spending drop column unpriced");
    const sql = "insert into spending (key_id, window, tokens, usd) values (?, 'total', 40, ?)";
    before.run(sql, "unknown", 0);
    before.run(sql, "dear", 0.5);
    const version = Number(before.get("pragma user_version")?.["user_version"]);
    before.run(`pragma user_version = ${version - 2}`);
    before.close();
    const spending = await openSpending(path);
    assert.deepEqual((await spending.read("unknown", NOON)).total, used(0, 40, 0, 40));
    assert.deepEqual((await spending.read("dear", NOON)).total, used(0, 40, 0.5));
  });
});

describe("spending in SQLite, of two processes", () => {
  it("gives the last of an allowance to one of them", async () => {
    const path = newDatabasePath();
    const sides = [await openSpending(path), await openSpending(path)];
    const limits = { total: { requests: 5 } };
    const taken = await Promise.all(
      Array.from({ length: 12 }, (_, n) => sides[n % 2]?.take("k", used(1), limits, NOON)),
    );
    assert.equal(taken.filter((excess) => excess === undefined).length, 5);
  });
});
