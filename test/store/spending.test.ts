import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createMemorySpending } from "../../src/store/memory/memory-spending.ts";
import { openKept } from "../../src/store/open-kept.ts";
import type { Spending } from "../../src/store/spending.ts";
import { openDatabase, type SqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { createSqliteSpending } from "../../src/store/sqlite/sqlite-spending.ts";
import { dropParts, newDatabasePath } from "./database-path.ts";
import {
  describeBookedRuns,
  describeSharedSpending,
  describeSpending,
  NOON,
  used,
} from "./spending-contract.ts";
import { ended, newRun } from "./store-contract.ts";

const databases: SqliteDatabase[] = [];
after(() => {
  for (const db of databases) db.close();
});
async function openSpending(path = newDatabasePath()): Promise<Spending> {
  const db = await openDatabase(path);
  databases.push(db);
  return createSqliteSpending(db);
}

describeSpending("spending in SQLite", () => openSpending());
describeSpending("spending in memory", async () => createMemorySpending());
describeSharedSpending("spending in SQLite", async () => {
  const path = newDatabasePath();
  return [await openSpending(path), await openSpending(path)];
});

describeBookedRuns("a record in memory", () => openRecord(undefined), { isShared: false });
describeBookedRuns("a record in SQLite", () => openRecord(newDatabasePath()));

async function openRecord(address: string | undefined) {
  const kept = await openKept(address);
  return { store: await kept.runs(), spending: await kept.spending() };
}

describe("a record in SQLite: what a run has used", () => {
  it("cannot be booked without its ending, nor its ending be written without the booking", async () => {
    const path = newDatabasePath();
    const { store, spending } = await openRecord(path);
    const db = await openDatabase(path);
    databases.push(db);
    await store.createRun(newRun("run_1"));
    await store.claim("run_1", "worker_1");
    const settles = { keyId: "k", used: { tokens: 7 }, nowMs: NOON };
    for (const [table, change] of [
      ["runs", "update of status on runs"],
      ["spending", "insert on spending when new.window = 'total'"],
    ] as const) {
      db.run(
        `create trigger no_${table} after ${change} begin select raise(abort, 'Not now.'); end`,
      );
      await assert.rejects(store.finish("run_1", 1, { ...ended(0), settles }), /Not now/);
      assert.equal((await store.getRun("run_1"))?.status, "running");
      assert.deepEqual(await spending.list(undefined), []);
      db.run(`drop trigger no_${table}`);
    }
    await store.finish("run_1", 1, { ...ended(0), settles });
    assert.deepEqual((await spending.read("k", NOON)).total, used(0, 7));
    await store.close();
  });
});

describe("spending in SQLite, of an earlier version", () => {
  it("treats tokens that had no price as tokens whose price is not known", async () => {
    const path = newDatabasePath();
    const before = await openDatabase(path);
    dropParts(before);
    before.run("alter table spending drop column unpriced");
    const sql = "insert into spending (key_id, window, tokens, usd) values (?, 'total', 40, ?)";
    before.run(sql, "unknown", 0);
    before.run(sql, "dear", 0.5);
    before.run("pragma user_version = 7");
    before.close();
    const spending = await openSpending(path);
    assert.deepEqual((await spending.read("unknown", NOON)).total, used(0, 40, 0, 40));
    assert.deepEqual((await spending.read("dear", NOON)).total, used(0, 40, 0.5));
  });
});
