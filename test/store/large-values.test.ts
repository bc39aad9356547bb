/** Large values of runs: kept in parts, written and read without blocking others. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { readMonotonicBoot, readMonotonicMs } from "../../src/base/processes.ts";
import { readWholeLog } from "../../src/engine/read-log.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { openDatabase, type SqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { createSqliteShelf } from "../../src/store/sqlite/sqlite-shelf.ts";
import { createSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { countTurns } from "../base/count-turns.ts";
import { newDatabasePath, withFailingDisk } from "./database-path.ts";
import { ended, newRun } from "./store-contract.ts";

/** 20 MB, with characters of two bytes. */
const INPUT: Json[] = Array.from({ length: 2000 }, (_, at) => ({ at, text: "é ".repeat(3300) }));

/** 3 MB, for tests that write it many times. */
const SHORTER: Json = INPUT.slice(0, 300);

const LONG_TEXT = "long ".repeat(400_000);
const LARGE: RunEvent[] = [{ type: "notice", code: "retry", message: LONG_TEXT }];

async function open(path = newDatabasePath()) {
  const db = await openDatabase(path);
  return { path, db, store: createSqliteStore(db) };
}

const HOUR_MS = 3_600_000;

/** The state that a crash leaves. */
function leave(
  db: SqliteDatabase,
  id: string,
  last: { boot: string | null; grewMs: number },
): void {
  const sql = "insert into drafts (id, created_at_ms, boot, grew_ms) values (?, 0, ?, ?)";
  db.run(sql, id, last.boot, last.grewMs);
  db.run("insert into parts (id, part, bytes) values (?, 0, zeroblob(10))", id);
}

const count = (db: SqliteDatabase, table: string): number =>
  Number(db.get(`select count(*) as n from ${table}`)?.["n"]);

describe("a large value of a run", () => {
  it("is written and read in many turns of the event loop, and comes back as it was", async () => {
    const { db, store } = await open();
    const written = await countTurns(() => store.createRun(newRun("run_1", { input: INPUT })));
    assert.ok(written.turns >= 50, `written in ${written.turns} turns`);
    const read = await countTurns(() => store.getRun("run_1"));
    assert.ok(read.turns >= 4, `read in ${read.turns} turns`);
    assert.deepEqual(read.value?.input, INPUT);
    assert.equal(count(db, "drafts"), 0);
    db.close();
  });

  it("lets other writers write between its parts", async () => {
    const { db, store } = await open();
    let isWritten = false;
    const writing = store.createRun(newRun("run_1", { input: INPUT })).then(() => {
      isWritten = true;
    });
    let others = 0;
    while (!isWritten) {
      await store.createRun(newRun(`run_other_${others++}`));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    assert.ok(others >= 20, `${others} others`);
    db.close();
  });

  it("may be an event, a step and a result, and is in the view of events", async () => {
    const { db, store } = await open();
    await store.createRun(newRun("run_1"));
    const epoch = (await store.claim("run_1", "worker")) ?? 0;
    await store.append("run_1", epoch, 0, LARGE);
    const value = { text: LONG_TEXT };
    await store.saveStep("run_1", epoch, {
      key: "model:1",
      value,
      last: { firstSeq: 1, events: LARGE },
    });
    await store.finish("run_1", epoch, { ...ended(2), result: [LONG_TEXT] });
    assert.deepEqual(
      (await readWholeLog(store, "run_1")).slice(0, 2).map(({ event }) => event),
      [...LARGE, ...LARGE],
    );
    assert.deepEqual(await store.readSteps("run_1"), new Map([["model:1", value]]));
    assert.deepEqual((await store.getRun("run_1"))?.result, [LONG_TEXT]);
    const row = db.get("select event ->> 'message' as message from run_events where seq = 1");
    assert.ok(row?.["message"] === LONG_TEXT, "another message");
    assert.equal(count(db, "drafts"), 0);
    db.close();
  });

  it("is removed with its run", async () => {
    const { db, store } = await open();
    await store.createRun(newRun("run_1", { input: INPUT }));
    assert.ok(count(db, "parts") > 10);
    await store.deleteTree("run_1");
    assert.equal(count(db, "parts"), 0);
    db.close();
  });

  it("is stored once if a run has it twice", async () => {
    const { db, store } = await open();
    await store.createRun(newRun("run_1"));
    const epoch = (await store.claim("run_1", "worker")) ?? 0;
    await store.append("run_1", epoch, 0, LARGE);
    const before = count(db, "parts");
    await store.append("run_1", epoch, 1, LARGE);
    assert.equal(count(db, "parts"), before);
    assert.equal((await readWholeLog(store, "run_1")).length, 2);
    db.close();
  });

  it("leaves nothing if it is refused", async () => {
    const { db, store } = await open();
    await store.createRun(newRun("run_1"));
    const epoch = (await store.claim("run_1", "worker")) ?? 0;
    await assert.rejects(store.append("run_1", epoch, 7, LARGE));
    assert.deepEqual([count(db, "parts"), count(db, "drafts")], [0, 0]);
    assert.equal(await store.createRun(newRun("run_1", { input: INPUT })), false);
    assert.deepEqual([count(db, "parts"), count(db, "drafts")], [0, 0]);
    db.close();
  });

  it("that is being written is not judged by the wall clock", async () => {
    const { db, path, store } = await open();
    const writing = store.createRun(newRun("run_1", { input: INPUT }));
    while (count(db, "parts") === 0) await new Promise(setImmediate);
    db.run("update drafts set created_at_ms = 0");
    const other = await open(path);
    assert.equal(count(other.db, "drafts"), 1);
    other.db.close();
    assert.equal(await writing, true);
    db.close();
  });

  it("that a crash interrupted is removed by later starts, one by each", async () => {
    const { db, path } = await open();
    leave(db, "old", { boot: readMonotonicBoot(), grewMs: readMonotonicMs() - HOUR_MS });
    leave(db, "older", { boot: readMonotonicBoot(), grewMs: readMonotonicMs() - 2 * HOUR_MS });
    leave(db, "young", { boot: readMonotonicBoot(), grewMs: readMonotonicMs() });
    db.close();
    for (const kept of [2, 1, 1]) {
      const later = await open(path);
      assert.equal(count(later.db, "parts"), kept);
      assert.equal(count(later.db, "drafts"), kept);
      later.db.close();
    }
  });

  for (const [whose, boot] of [
    ["another boot", "another boot/1"],
    ["an older version", null],
  ] as const) {
    it(`of ${whose} is watched in the time of the process that found it`, async () => {
      const { db, path } = await open();
      leave(db, "a", { boot, grewMs: 0 });
      const shelf = createSqliteShelf(db);
      assert.equal(await shelf.removeLeftover(), false);
      assert.equal(count(db, "parts"), 1);
      (await open(path)).db.close();
      assert.equal(count(db, "parts"), 1);
      // Ten minutes later, by the clock of this boot.
      assert.equal(db.run("update drafts set grew_ms = grew_ms - ?", HOUR_MS), 1);
      assert.equal(await shelf.removeLeftover(), true);
      assert.deepEqual([count(db, "parts"), count(db, "drafts")], [0, 0]);
      assert.equal(await shelf.removeLeftover(), false);
      db.close();
    });
  }

  it("counts as alive as long as it grows, however long that takes", async () => {
    const { db, store } = await open();
    const shelf = createSqliteShelf(db);
    const writing = store.createRun(newRun("run_1", { input: INPUT }));
    while (count(db, "parts") === 0) await new Promise(setImmediate);
    for (let hours = 1; hours <= 3; hours++) {
      const before = count(db, "parts");
      db.run("update drafts set grew_ms = grew_ms - ?", HOUR_MS);
      while (count(db, "parts") === before) await new Promise(setImmediate);
      assert.equal(await shelf.removeLeftover(), false);
    }
    assert.equal(await writing, true);
    db.close();
  });

  it("is not continued by a writer whose beginning was removed as a crash's", async () => {
    const { db, store } = await open();
    await store.createRun(newRun("run_1"));
    const epoch = (await store.claim("run_1", "worker")) ?? 0;
    const writing = store.append("run_1", epoch, 0, LARGE);
    while (count(db, "drafts") === 0) await new Promise(setImmediate);
    db.run("delete from parts");
    db.run("delete from drafts");
    await assert.rejects(writing, { code: "store_busy" });
    assert.deepEqual([count(db, "parts"), count(db, "blobs")], [0, 0]);
    await store.append("run_1", epoch, 0, LARGE);
    db.close();
  });

  it("stays in the record if the disk fails after the commit", async () => {
    const { db } = await open();
    const store = createSqliteStore(withFailingDisk(db, () => true));
    await assert.rejects(store.createRun(newRun("run_1", { input: SHORTER })), /disk failed/);
    assert.deepEqual((await store.getRun("run_1"))?.input, SHORTER);
    db.close();
  });

  it("is missing if its run is removed while it is read", async () => {
    const { db, store } = await open();
    await store.createRun(newRun("run_1", { input: INPUT }));
    const reading = [store.getRun("run_1"), store.listRuns({ limit: 10 })] as const;
    await store.deleteTree("run_1");
    assert.deepEqual(await Promise.all(reading), [undefined, []]);
    db.close();
  });

  it("is worked on in its tenant's turn: many of another tenant delay it by one slice each round", async () => {
    const { db, store } = await open();
    const ended: string[] = [];
    const note = (tenant: string) => (): void => void ended.push(tenant);
    const write = (id: string, tenant: string): Promise<void> =>
      store.createRun(newRun(id, { input: SHORTER, tenant })).then(note(tenant));
    const many = Array.from({ length: 8 }, (_, at) => write(`run_many_${at}`, "many"));
    await write("run_one", "one");
    assert.deepEqual(ended, ["one"], "written after others that had begun before");
    await Promise.all(many);

    ended.length = 0;
    const reads = Array.from({ length: 8 }, (_, at) =>
      store.getRun(`run_many_${at}`).then(note("many")),
    );
    await store.getRun("run_one").then(note("one"));
    assert.deepEqual(ended, ["one"], "read after others that had begun before");
    await Promise.all(reads);
    db.close();
  });

  it("of a child is worked on in the turn of the run above it", async () => {
    const { db, store } = await open();
    for (const tenant of ["many", "one"]) {
      await store.createRun(newRun(`run_${tenant}`, { tenant }));
      await store.createRun(newRun(`run_${tenant}/child`, { parent_id: `run_${tenant}` }));
      assert.equal((await store.getRunStatus(`run_${tenant}/child`))?.tenant, tenant);
    }
    const ended: string[] = [];
    const append = async (tenant: string, key: string): Promise<void> => {
      await store.saveStep(`run_${tenant}/child`, 0, { key, value: SHORTER });
      ended.push(tenant);
    };
    const many = Array.from({ length: 8 }, (_, at) => append("many", `step ${at}`));
    await append("one", "step");
    assert.deepEqual(ended, ["one"]);
    await Promise.all(many);
    db.close();
  });
});
