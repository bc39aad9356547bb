/** A file that another program writes to: no process is blocked, and no call waits for ever. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Failure } from "../../src/base/failure.ts";
import { createSqliteAudit } from "../../src/store/sqlite/sqlite-audit.ts";
import { openDatabase, type SqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { openConnection, type SqliteConnection } from "../../src/store/sqlite/sqlite-driver.ts";
import { createSqliteSpending } from "../../src/store/sqlite/sqlite-spending.ts";
import { createSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { NO_DISK } from "../../src/store/sqlite/wal-disk.ts";
import { createWriteLine } from "../../src/store/sqlite/write-line.ts";
import { createManualClock } from "../../src/testing/index.ts";
import { newDatabasePath } from "./database-path.ts";
import { newRun, notices } from "./store-contract.ts";

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

async function openLocked() {
  const path = newDatabasePath();
  const clock = createManualClock();
  const db = await openDatabase(path, clock);
  const foreign: SqliteConnection = await openConnection(path);
  foreign.exec("begin immediate");
  return { path, clock, db, foreign, store: createSqliteStore(db) };
}

describe("a store that another program has locked", () => {
  it("does not block the event loop and readers while a writer waits, and writes then", async () => {
    const { clock, db, foreign, store } = await openLocked();
    let isWritten = false;
    const writing = store.createRun(newRun("run_1")).then(() => {
      isWritten = true;
    });
    await turns(20);
    assert.equal(isWritten, false);
    assert.equal(clock.sleeping, 1);
    assert.equal(await store.getRun("run_1"), undefined);
    foreign.exec("commit");
    await clock.advance(50);
    await writing;
    assert.equal((await store.getRun("run_1"))?.id, "run_1");
    foreign.close();
    db.close();
  });

  it("gives its writers their turns in the order in which they came", async () => {
    const { clock, db, foreign, store } = await openLocked();
    foreign.exec("commit");
    await store.createRun(newRun("run_1"));
    await store.claim("run_1", "worker");
    foreign.exec("begin immediate");
    // Each is refused unless it follows the one before it.
    const writing = [0, 1, 2, 3].map((seq) => store.append("run_1", 1, seq, notices(1, seq)));
    await turns(5);
    foreign.exec("commit");
    // One that comes while others wait, although the file is free already.
    writing.push(store.append("run_1", 1, 4, notices(1, 4)));
    await clock.advance(50);
    await Promise.all(writing);
    assert.equal((await store.readEvents("run_1", -1, 10)).length, 5);
    foreign.close();
    db.close();
  });

  it("refuses with `store_busy` after half a minute, each writer by its own time", async () => {
    const { clock, db, foreign, store } = await openLocked();
    const codes: string[] = [];
    const note = (name: string) => (thrown: unknown) =>
      void codes.push(`${name}: ${(thrown as { code: string }).code}`);
    const first = store.createRun(newRun("run_1")).catch(note("first"));
    await clock.advance(20_000);
    const second = store.createRun(newRun("run_2")).catch(note("second"));
    await clock.advance(11_000);
    await first;
    assert.deepEqual(codes, ["first: store_busy"]);
    await clock.advance(20_000);
    await second;
    assert.deepEqual(codes, ["first: store_busy", "second: store_busy"]);
    foreign.exec("commit");
    assert.equal(await store.createRun(newRun("run_3")), true);
    foreign.close();
    db.close();
  });

  it("is opened meanwhile by others", async () => {
    const { path, db, foreign } = await openLocked();
    const second = await openDatabase(path);
    assert.equal(second.get("select count(*) as n from runs")?.["n"], 0);
    second.close();
    foreign.close();
    db.close();
  });

  it("keeps audit entries in memory until it is free", async () => {
    const { clock, db, foreign } = await openLocked();
    const audit = createSqliteAudit(db, clock);
    const rest = { tenant: "a", key_id: null, target: null, status: 200, address: null };
    for (const at_ms of [1, 2]) audit.write({ ...rest, at_ms, action: "POST /v1/files" });
    await clock.advance(1000);
    audit.write({ ...rest, at_ms: 3, action: "POST /v1/files" });
    await clock.advance(1000);
    assert.equal(db.get("select count(*) as n from audit")?.["n"], 0);
    foreign.exec("commit");
    await clock.advance(1000);
    await clock.advance(1000);
    assert.deepEqual(
      (await audit.list({ limit: 9 })).map(({ at_ms }) => at_ms),
      [3, 2, 1],
    );
    await audit.close();
    foreign.close();
    db.close();
  });

  it("delays a hold, and all other spending with it", async () => {
    const { clock, db, foreign } = await openLocked();
    const spending = createSqliteSpending(db);
    const limits = { total: { usd: 10 } };
    const wish = { id: "run_1", least: { tokens: 0, usd: 1 }, most: { tokens: 0, usd: 2 } };
    const holding = spending.hold("k", wish, limits, 0);
    const taking = spending.take("k", { requests: 1, tokens: 0, usd: 1 }, limits, 0);
    await turns(3);
    foreign.exec("commit");
    await clock.advance(50);
    assert.equal(await taking, undefined);
    assert.deepEqual((await holding).held, { tokens: 0, usd: 2 });
    assert.equal((await spending.read("k", 0)).total.usd, 1);
    foreign.close();
    db.close();
  });

  it("is not reported as writable", async () => {
    const { db, foreign, store } = await openLocked();
    await assert.rejects(store.checkWritable(), { code: "store_busy" });
    foreign.exec("commit");
    await store.checkWritable();
    foreign.close();
    db.close();
  });
});

describe("writes of one turn of the event loop", () => {
  /** What another connection sees at the marked moments. */
  async function open() {
    const path = newDatabasePath();
    const db = await openDatabase(path);
    const reader = await openConnection(path);
    const workers = (): unknown[] =>
      reader
        .prepare("select id from workers order by id")
        .all()
        .map((row) => row["id"]);
    const add = (id: string): Promise<number> => db.write("process", () => insert(db, id));
    return { db, reader, workers, add };
  }

  function insert(db: SqliteDatabase, id: string): number {
    return db.run("insert into workers (id, host, pid, beat_at_ms) values (?, '', 1, 0)", id);
  }

  it("are written together, except for the first, which does not wait", async () => {
    const { db, reader, workers, add } = await open();
    const seen: unknown[] = [];
    const first = add("a");
    assert.deepEqual(workers(), ["a"]);
    const others = ["b", "c", "d"].map((id) => add(id).then(() => seen.push(workers())));
    assert.deepEqual(workers(), ["a"]);
    await Promise.all([first, ...others]);
    assert.deepEqual(seen, Array(3).fill(["a", "b", "c", "d"]));
    reader.close();
    db.close();
  });

  it("fail each alone, and keep their order", async () => {
    const { db, reader, workers, add } = await open();
    const order: string[] = [];
    const all = ["a", "b", "b", "c"].map((id, at) =>
      add(id).then(
        () => order.push(`${at} ${id}`),
        (failure: Failure) => order.push(`${at} ${failure.code}`),
      ),
    );
    await Promise.all(all);
    assert.deepEqual(order, ["0 a", "1 b", "2 store_failed", "3 c"]);
    assert.deepEqual(workers(), ["a", "b", "c"]);
    reader.close();
    db.close();
  });

  it("are undone as a whole if one ends the transaction, and no caller sees success", async () => {
    const { db, reader, workers, add } = await open();
    const first = add("a");
    const lost = [
      add("b"),
      db.write("process", () => {
        db.run("rollback");
        throw new Error("the disk is full");
      }),
      add("c"),
    ];
    await first;
    const ended = await Promise.allSettled(lost);
    assert.deepEqual(
      ended.map(({ status }) => status),
      ["rejected", "rejected", "fulfilled"],
    );
    assert.deepEqual(workers(), ["a", "c"]);
    reader.close();
    db.close();
  });
});

describe("a write that takes long", () => {
  it("gives the event loop a turn before the next one", async () => {
    const clock = createManualClock();
    const transact = <Out>(work: () => Out): Out => work();
    const attempt = <Out>(work: () => Out) => ({ value: work() });
    const inLine = createWriteLine({ clock, transact, attempt, disk: NO_DISK });
    let turns = 0;
    const count = (): void => {
      turns++;
      if (turns < 9) setImmediate(count);
    };
    setImmediate(count);
    const holdUp = () => {
      const endMs = performance.now() + 30;
      while (performance.now() < endMs);
      return turns;
    };
    const seen = await Promise.all([1, 2, 3].map(() => inLine("process", holdUp)));
    assert.equal(new Set(seen).size, 3, `turns at the writes: ${seen}`);
  });
});
