import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createMemorySpending } from "../../src/store/memory/memory-spending.ts";
import type { Spending } from "../../src/store/spending.ts";
import { type Database, openDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { createSqliteSpending } from "../../src/store/sqlite/sqlite-spending.ts";
import { dropParts, newDatabasePath } from "./database-path.ts";
import { describeSharedSpending, describeSpending, NOON, used } from "./spending-contract.ts";

const databases: Database[] = [];
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

describe("spending in SQLite, of an earlier version", () => {
  it("takes tokens that had no price for tokens whose price is not known", async () => {
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
