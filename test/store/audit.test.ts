import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Audit,
  type AuditEntry,
  type AuditQuery,
  createAudit,
  createMemoryAudit,
} from "../../src/store/audit.ts";
import { type Database, openDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { newDatabasePath } from "./database-path.ts";

function entry(at_ms: number, more: Partial<AuditEntry> = {}): AuditEntry {
  const rest = { tenant: "t", key_id: "key_1", action: "responses.create", target: null };
  return { at_ms, ...rest, status: 200, address: "127.0.0.1", ...more };
}

const rowsOf = (db: Database): number => Number(db.get("select count(*) as n from audit")?.["n"]);

const openers: Readonly<Record<string, () => Promise<[Audit, Database?]>>> = {
  "audit in SQLite": async () => {
    const db = await openDatabase(newDatabasePath());
    return [createAudit(db, createManualClock()), db];
  },
  "audit in memory": async () => [createMemoryAudit()],
};
for (const [name, open] of Object.entries(openers)) {
  describe(name, () => {
    it("gives entries back newest first, a page at a time", async () => {
      const [audit, db] = await open();
      const odd = {
        tenant: "nul\0",
        key_id: null,
        action: '"q"',
        target: "half \ud800",
        address: null,
      };
      const entries = [entry(1), entry(2, odd), entry(3, { status: 404 }), entry(3)];
      for (const each of entries) audit.write(each);
      const [last, ...older] = await audit.list({ limit: 3 });
      assert.ok(last && older.length === 2);
      const rest = await audit.list({ limit: 3, before: older[1]?.id });
      assert.deepEqual(
        [last, ...older, ...rest].map(({ id: _, ...kept }) => kept),
        entries.toReversed(),
      );
      assert.deepEqual(await audit.list({ limit: 3, before: rest[0]?.id }), []);
      await audit.close();
      db?.close();
    });

    it("gives the entries that fit every condition, a page at a time", async () => {
      const [audit, db] = await open();
      audit.write(entry(10, { key_id: "a", action: "POST /v1/files", status: 429 }));
      audit.write(entry(20, { key_id: "a", action: "POST /v1/responses", status: 400 }));
      audit.write(entry(30, { key_id: "b", action: "DELETE /v1/files/:id", tenant: "u" }));
      audit.write(entry(40, { key_id: null, action: "POST /v1/responses", status: 401 }));
      const times = async (query: Omit<AuditQuery, "limit">, limit = 9): Promise<number[]> =>
        (await audit.list({ ...query, limit })).map(({ at_ms }) => at_ms);
      assert.deepEqual(await times({ keyId: "a" }), [20, 10]);
      assert.deepEqual(await times({ keyId: "a" }, 1), [20]);
      assert.deepEqual(await times({ keyId: "a", before: 2 }), [10]);
      assert.deepEqual(await times({ tenant: "u" }), [30]);
      assert.deepEqual(await times({ time: [20, 40] }), [30, 20]);
      assert.deepEqual(await times({ action: "/v1/files" }), [30, 10]);
      assert.deepEqual(await times({ action: "POST /v1/f" }), [10]);
      assert.deepEqual(await times({ status: [400, 500] }), [40, 20, 10]);
      assert.deepEqual(await times({ status: [429, 430] }), [10]);
      assert.deepEqual(await times({ keyId: "a", action: "%" }), []);
      await audit.close();
      db?.close();
    });

    it("forgets what is older", async () => {
      const [audit, db] = await open();
      for (const at of [1, 2, 3]) audit.write(entry(at));
      await audit.prune(3);
      assert.deepEqual(
        (await audit.list({ limit: 9 })).map(({ at_ms }) => at_ms),
        [3],
      );
      await audit.close();
      db?.close();
    });
  });
}

describe("audit in SQLite: when it forgets", () => {
  it("forgets all that is older, however much that is", async () => {
    const db = await openDatabase(newDatabasePath());
    const audit = createAudit(db, createManualClock());
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
  it("writes all that waits a second after the first, and sleeps only when something waits", async () => {
    const db = await openDatabase(newDatabasePath());
    const clock = createManualClock();
    const audit = createAudit(db, clock);
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

  it("writes what waits when it is closed, and leaves no sleep behind", async () => {
    const db = await openDatabase(newDatabasePath());
    const clock = createManualClock();
    const audit = createAudit(db, clock);
    audit.write(entry(1));
    await audit.close();
    assert.deepEqual([rowsOf(db), clock.sleeping], [1, 0]);
    db.close();
  });

  it("keeps what a full disk refuses and tries again, up to a bound", async () => {
    const db = await openDatabase(newDatabasePath());
    let isFull = true;
    const write: Database["write"] = async (durability, work) => {
      if (isFull) throw new Error("The disk is full.");
      return await db.write(durability, work);
    };
    const clock = createManualClock();
    const audit = createAudit({ ...db, write }, clock);
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
