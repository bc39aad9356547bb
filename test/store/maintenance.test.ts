import assert from "node:assert/strict";
import { readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { openBooks } from "../../src/server/running/books.ts";
import { backUpStore, checkStore, vacuumStore } from "../../src/store/sqlite/maintenance.ts";
import { migrate } from "../../src/store/sqlite/migrations.ts";
import { openConnection } from "../../src/store/sqlite/sqlite-driver.ts";
import { openSqliteStore, openSqliteStores } from "../../src/store/sqlite/sqlite-store.ts";
import { damage, PAGE_BYTES } from "./damaged-file.ts";
import { newDatabasePath } from "./database-path.ts";
import { newThing } from "./shelf-contract.ts";
import { newRun, notices } from "./store-contract.ts";

/** None of these records is larger. */
const MAX_BYTES = 100_000_000;

async function fill(path: string, runs: number): Promise<void> {
  const store = await openSqliteStore(path);
  for (let number = 0; number < runs; number++) {
    await store.createRun(newRun(`run_${number}`, { input: "x".repeat(2000) }));
    await store.claim(`run_${number}`, "worker");
    await store.append(`run_${number}`, 1, 0, notices(20));
  }
  await store.close();
}

/** Keeps only the first pages, and nothing in the WAL that could replace the others. */
async function cutShort(path: string, pages: number): Promise<void> {
  const connection = await openConnection(path);
  connection.prepare("pragma wal_checkpoint(truncate)").all();
  connection.close();
  truncateSync(path, pages * PAGE_BYTES);
}

describe("the maintenance of a store", () => {
  it("finds nothing wrong with a store that is in use", async () => {
    const path = newDatabasePath();
    await fill(path, 5);
    const store = await openSqliteStore(path);
    await store.createRun(newRun("run_live"));
    const { problems, runs, bytes } = await checkStore(path);
    assert.deepEqual([problems, runs], [[], 6]);
    assert.equal(bytes % PAGE_BYTES, 0);
    await store.close();
  });

  it("says what is wrong with a damaged one", async () => {
    const path = newDatabasePath();
    await fill(path, 50);
    await damage(path, "runs");
    const { problems } = await checkStore(path);
    assert.ok(problems.length > 0);
    for (const problem of problems) assert.doesNotMatch(problem, /\n|^database disk image is/);
  });

  it("says which rows refer to nothing", async () => {
    const path = newDatabasePath();
    await fill(path, 1);
    const connection = await openConnection(path);
    connection.exec("pragma foreign_keys = off; delete from runs");
    connection.close();
    const { problems, more_problems } = await checkStore(path);
    assert.deepEqual(problems.map((line) => line.replace(/\d+/, "N")).sort(), [
      "row N of events refers to no runs",
      "row N of run_facts refers to no runs",
    ]);
    assert.equal(more_problems, 0);
  });

  it("lists ten problems and how many more there are", async () => {
    const path = newDatabasePath();
    await fill(path, 30);
    const connection = await openConnection(path);
    connection.exec("pragma foreign_keys = off; delete from runs");
    connection.close();
    const { problems, more_problems } = await checkStore(path);
    assert.deepEqual([problems.length, more_problems], [10, 50]);
  });

  it("says what is wrong with a truncated file, and with a folder", async () => {
    const path = newDatabasePath();
    await fill(path, 50);
    await cutShort(path, 2);
    const { problems, runs, bytes } = await checkStore(path);
    assert.equal(problems.length, 1);
    assert.doesNotMatch(problems.join(), /store check/);
    assert.deepEqual([runs, bytes], [0, 2 * PAGE_BYTES]);
    const folder = { code: "invalid_request", message: /is a folder/ };
    await assert.rejects(checkStore(dirname(path)), folder);
  });

  it("creates no file if it is asked about a missing one", async () => {
    const path = newDatabasePath();
    for (const work of [checkStore(path), backUpStore(path, `${path}.copy`), vacuumStore(path)]) {
      await assert.rejects(work, { code: "not_found" });
    }
    assert.equal(statSync(path, { throwIfNoEntry: false }), undefined);
  });

  for (const [whose, sql, says] of [
    ["another program", "create table notes (text)", /another program/],
    ["a newer version", "pragma user_version = 999", /newer Offshoot/],
  ] as const) {
    it(`leaves a file of ${whose} as it is, and names its program`, async () => {
      const path = newDatabasePath();
      if (whose === "a newer version") await fill(path, 1);
      const connection = await openConnection(path);
      connection.exec(sql);
      connection.close();
      const before = readFileSync(path);
      const works = [checkStore, vacuumStore, (from: string) => backUpStore(from, `${path}.copy`)];
      for (const work of [...works, openSqliteStore]) {
        await assert.rejects(work(path), { code: "invalid_request", message: says });
      }
      assert.deepEqual(readFileSync(path), before);
      assert.equal(statSync(`${path}.copy`, { throwIfNoEntry: false }), undefined);
    });
  }

  it("copies a live store to a file for the user alone, and overwrites nothing", async () => {
    const path = newDatabasePath();
    await fill(path, 5);
    const store = await openSqliteStore(path);
    await store.createRun(newRun("run_live"));
    const target = `${path}.copy`;
    await backUpStore(path, target);
    assert.equal(statSync(target).mode & 0o777, 0o600);
    await assert.rejects(backUpStore(path, target), { code: "conflict" });
    await store.close();
    const copy = await openSqliteStore(target);
    assert.equal((await copy.listRuns({ limit: 10 })).length, 6);
    assert.equal((await copy.readEvents("run_0", -1, 99)).length, 20);
    await copy.close();
  });

  it("leaves no half of a copy if the store is damaged", async () => {
    const path = newDatabasePath();
    await fill(path, 50);
    await damage(path, "runs");
    await assert.rejects(backUpStore(path, `${path}.copy`), { code: "store_failed" });
    assert.equal(statSync(`${path}.copy`, { throwIfNoEntry: false }), undefined);
  });

  it("makes a file of an older version smaller, and lets the server do so later", async () => {
    const path = newDatabasePath();
    const old = await openConnection(path);
    migrate(old);
    old.exec(`pragma journal_mode = wal; create table large (body text);
      insert into large values (zeroblob(5000000)); delete from large`);
    old.close();
    const stores = await openSqliteStores(path);
    assert.equal(stores.chunksDb.get("pragma auto_vacuum")?.["auto_vacuum"], 0);
    assert.equal(await stores.shelf.giveBack(), false);
    const { before, after } = await vacuumStore(path);
    assert.ok(after < before / 2, `${before} bytes before, ${after} now`);
    // A connection that was open meanwhile sees it with its next transaction.
    await stores.shelf.put(newThing("a"));
    assert.equal(stores.chunksDb.get("pragma auto_vacuum")?.["auto_vacuum"], 2);
    assert.deepEqual((await checkStore(path)).problems, []);
    await stores.close();
  });
});

describe("a damaged store", () => {
  it("is refused by a server at its start, with a sentence that says what to do", async () => {
    const path = newDatabasePath();
    await fill(path, 50);
    await damage(path, "runs");
    await assert.rejects(openBooks(path, MAX_BYTES), {
      code: "store_failed",
      message: /is damaged: .*offshoot store check/,
    });
  });

  it("is opened by a server if it is too large to be checked", async () => {
    const path = newDatabasePath();
    await fill(path, 50);
    const sound = await openBooks(path, MAX_BYTES);
    assert.equal(sound.isChecked, true);
    await sound.close();
    await damage(path, "contents");
    const books = await openBooks(path, 0);
    assert.equal(books.isChecked, false);
    await books.close();
    await assert.rejects(openBooks(path, MAX_BYTES), { code: "store_failed" });
  });

  it("is reported by the first command that finds it", async () => {
    const path = newDatabasePath();
    await fill(path, 50);
    await damage(path, "runs");
    const store = await openSqliteStore(path);
    await assert.rejects(store.listRuns({ limit: 10 }), {
      code: "store_failed",
      message: /is damaged: .*offshoot store check/,
    });
    await assert.rejects(store.createRun(newRun("run_new")), {
      code: "store_failed",
      message: /is damaged: .*offshoot store check/,
    });
    await store.close();
  });

  it("is reported in the same way if it was truncated", async () => {
    const path = newDatabasePath();
    await fill(path, 50);
    await cutShort(path, 2);
    for (const open of [() => openBooks(path, MAX_BYTES), () => openSqliteStore(path)]) {
      await assert.rejects(open, { code: "store_failed", message: /is damaged: / });
    }
  });

  it("is refused if it is not a database at all", async () => {
    const path = newDatabasePath();
    writeFileSync(path, "not a database, but long enough to be taken for one".repeat(100));
    await assert.rejects(openBooks(path, MAX_BYTES), { code: "invalid_request" });
  });
});
