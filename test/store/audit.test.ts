import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createMemoryAudit } from "../../src/store/memory/memory-audit.ts";
import { createSqliteAudit } from "../../src/store/sqlite/sqlite-audit.ts";
import { openDatabase, type SqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { describeAudit, entry } from "./audit-contract.ts";
import { newDatabasePath } from "./database-path.ts";

const rowsOf = (db: SqliteDatabase): number =>
  Number(db.get("select count(*) as n from audit")?.["n"]);

const databases: SqliteDatabase[] = [];
after(() => {
  for (const db of databases) db.close();
});
describeAudit("audit in SQLite", async () => {
  const db = await openDatabase(newDatabasePath());
  databases.push(db);
  return createSqliteAudit(db, createManualClock());
});
describeAudit("audit in memory", async () => createMemoryAudit());

describe("audit in SQLite: when it forgets", () => {
  it("removes all older entries, however many there are", async () => {
    const db = await openDatabase(newDatabasePath());
    const audit = createSqliteAudit(db, createManualClock());
    for (let at = 1; at <= 10_001; at++) {
      audit.write(entry(at));
      if (at % 9000 === 0) await audit.list({ limit: 1 });
    }
    await audit.prune(10_001);
    assert.equal(rowsOf(db), 1);
    await audit.close();
    db.close();
  });
});

describe("audit in SQLite: when it writes", () => {
  it("writes all waiting entries a second after the first, and sleeps only while entries wait", async () => {
    const db = await openDatabase(newDatabasePath());
    const clock = createManualClock();
    const audit = createSqliteAudit(db, clock);
    assert.equal(clock.sleeping, 0);
    audit.write(entry(1));
    await clock.advance(900);
    audit.write(entry(2));
    assert.deepEqual([rowsOf(db), clock.sleeping], [0, 1]);
    await clock.advance(100);
    assert.deepEqual([rowsOf(db), clock.sleeping], [2, 0]);
    audit.write(entry(3));
    await clock.advance(1000);
    assert.equal(rowsOf(db), 3);
    await audit.close();
    db.close();
  });

  it("writes waiting entries when it is closed, and leaves no timer", async () => {
    const db = await openDatabase(newDatabasePath());
    const clock = createManualClock();
    const audit = createSqliteAudit(db, clock);
    audit.write(entry(1));
    await audit.close();
    assert.deepEqual([rowsOf(db), clock.sleeping], [1, 0]);
    db.close();
  });

  it("keeps what a full disk refuses and tries again, up to a bound", async () => {
    const db = await openDatabase(newDatabasePath());
    let isFull = true;
    const write: SqliteDatabase["write"] = async (durability, work) => {
      if (isFull) throw new Error("The disk is full.");
      return await db.write(durability, work);
    };
    const clock = createManualClock();
    const audit = createSqliteAudit({ ...db, write }, clock);
    for (let at = 0; at < 10_005; at++) audit.write(entry(at));
    await clock.advance(1000);
    assert.equal(rowsOf(db), 0);
    isFull = false;
    audit.write(entry(10_005));
    await clock.advance(1000);
    assert.equal(rowsOf(db), 10_000);
    assert.equal(db.get("select min(at_ms) as first from audit")?.["first"], 6);
    await audit.close();
    db.close();
  });
});
