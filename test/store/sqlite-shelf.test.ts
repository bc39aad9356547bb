import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { Shelf } from "../../src/store/shelf.ts";
import { createSqliteChunks } from "../../src/store/sqlite/sqlite-chunks.ts";
import { createSqliteShelf } from "../../src/store/sqlite/sqlite-shelf.ts";
import { openSqliteStores, type SqliteStores } from "../../src/store/sqlite/sqlite-store.ts";
import { describeBatches } from "./batches-contract.ts";
import { describeChains } from "./chain-contract.ts";
import { dropParts, withFailingDisk } from "./database-path.ts";
import { describeExpiry } from "./expiry-contract.ts";
import { describeShelf, nameOf, newThing, streamOf } from "./shelf-contract.ts";
import { describeStorage } from "./storage-contract.ts";
import { ended, newRun, notices } from "./store-contract.ts";
import { describeUnder } from "./under-contract.ts";

const directory = await mkdtemp(join(tmpdir(), "offshoot-shelf-"));
const opened: SqliteStores[] = [];
after(async () => {
  for (const stores of opened) await stores.close();
  await rm(directory, { recursive: true, force: true });
});

let files = 0;
async function openStores(path = join(directory, `${files++}.db`)): Promise<SqliteStores> {
  const stores = await openSqliteStores(path);
  opened.push(stores);
  return stores;
}
const openShelf = async (): Promise<Shelf> => (await openStores()).shelf;

describeShelf("SQLite shelf", openShelf);
describeExpiry("SQLite shelf", openShelf);
describeUnder("SQLite shelf", openShelf);
describeChains("SQLite shelf", openShelf);
describeStorage("SQLite shelf", openShelf);
describeBatches("SQLite shelf", async () => {
  const path = join(directory, `${files++}.db`);
  return [(await openStores(path)).shelf, (await openStores(path)).shelf];
});

describe("SQLite shelf: the file", () => {
  const count = ({ chunksDb }: SqliteStores, table: string): number =>
    Number(chunksDb.get(`select count(*) as n from ${table}`)?.["n"]);

  it("counts what was stored before it was counted", async () => {
    const path = join(directory, "old.db");
    const first = await openSqliteStores(path);
    const { shelf, chunksDb } = first;
    await shelf.put(newThing("a", { body: "12345678" }));
    await shelf.put(newThing("b", { tenant: "other", body: {} }));
    await shelf.writeContent(nameOf("a"), streamOf(Buffer.alloc(2_000_000)));
    const place = { tenant: "tenant", store: "vs", file: "f" };
    const embedding = { vector: new Float32Array(10), model: "m" };
    await createSqliteChunks(chunksDb).put(place, 0, [{ text: "words", embedding }]);
    const now = await shelf.countBytes("tenant");
    // As it was before the tables that count.
    chunksDb.transact(() => {
      dropParts(chunksDb);
      chunksDb.run("drop trigger runs_counted");
      chunksDb.run("drop trigger runs_uncounted");
      chunksDb.run("alter table runs drop column bytes");
      chunksDb.run("alter table runs drop column tenant");
      chunksDb.run("drop table probe");
      for (const table of ["contents", "things", "chunks"]) {
        chunksDb.run(`drop trigger ${table}_counted`);
        chunksDb.run(`drop trigger ${table}_uncounted`);
      }
      chunksDb.run("drop trigger things_recounted");
      for (const name of [
        "turns_over",
        "store_files_removed",
        "store_files_changed",
        "index_runs_over",
      ]) {
        chunksDb.run(`drop trigger ${name}`);
      }
      for (const name of ["turns", "lanes"]) chunksDb.run(`drop table ${name}`);
      chunksDb.run("alter table spending drop column unpriced");
      chunksDb.run("drop table storage");
      chunksDb.run("alter table things drop column content_bytes");
      for (const column of ["boot", "pid_namespace", "started", "beat_ms"]) {
        chunksDb.run(`alter table workers drop column ${column}`);
      }
      chunksDb.run("pragma user_version = 3");
    });
    await first.close();
    const later = await openStores(path);
    assert.equal(now, 10 + 2_000_000 + 5 + 40);
    assert.equal(await later.shelf.countBytes("tenant"), now);
    assert.equal(await later.shelf.countBytes("other"), 2);
    await createSqliteChunks(later.chunksDb).trim(place, 0);
    await later.shelf.delete(nameOf("a"));
    assert.equal(await later.shelf.countBytes("tenant"), 0);
  });

  it("has runs and things in one file, and keeps both after closing", async () => {
    const path = join(directory, "both.db");
    const first = await openSqliteStores(path);
    await first.store.createRun(newRun("run_1"));
    await first.shelf.put(newThing("a"));
    await first.shelf.writeContent(nameOf("a"), streamOf(Buffer.from("bytes")));
    await first.close();
    const { store, shelf } = await openStores(path);
    assert.ok(await store.getRun("run_1"));
    assert.equal((await shelf.get(nameOf("a")))?.body, "body of a");
    const { value } = await shelf.readContent(nameOf("a")).next();
    assert.equal(Buffer.from(value ?? []).toString(), "bytes");
  });

  it("is shared by connections: what one puts the other has, and changes add up", async () => {
    const path = join(directory, "shared.db");
    const one = await openStores(path);
    const other = await openStores(path);
    await one.shelf.put(newThing("a", { body: 0 }));
    assert.equal(await other.shelf.put(newThing("a")), false);
    const add = (body: unknown): number => Number(body) + 1;
    for (const { shelf } of [one, other, one]) await shelf.change(nameOf("a"), add);
    assert.equal((await other.shelf.get(nameOf("a")))?.body, 3);
  });

  it("has no bytes left of what was replaced, interrupted or removed", async () => {
    const stores = await openStores();
    const { shelf } = stores;
    await shelf.put(newThing("a"));
    const large = streamOf(Buffer.alloc(3_000_000));
    await shelf.writeContent(nameOf("a"), large);
    assert.equal(count(stores, "contents"), 4, "three pieces and the empty one at the end");
    await shelf.writeContent(nameOf("a"), streamOf(Buffer.from("small")));
    assert.equal(count(stores, "contents"), 2);
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(3_000_000);
      throw new Error("gone");
    }
    await assert.rejects(shelf.writeContent(nameOf("a"), broken()));
    assert.equal(count(stores, "contents"), 2);
    await shelf.delete(nameOf("a"));
    assert.equal(count(stores, "contents"), 0);
  });

  it("has the new bytes if the disk fails after they were committed", async () => {
    const { shelf, chunksDb } = await openStores();
    await shelf.put(newThing("a"));
    await shelf.writeContent(nameOf("a"), streamOf(Buffer.from("old")));
    const failing = createSqliteShelf(withFailingDisk(chunksDb, () => true));
    const writing = failing.writeContent(nameOf("a"), streamOf(Buffer.from("new")));
    await assert.rejects(writing, /disk failed/);
    const { value } = await shelf.readContent(nameOf("a")).next();
    assert.equal(Buffer.from(value ?? []).toString(), "new");
  });

  it("takes over from a writer whose process died", async () => {
    const stores = await openStores();
    const { shelf, chunksDb } = stores;
    await shelf.put(newThing("a"));
    await shelf.writeContent(nameOf("a"), streamOf(Buffer.from("old")));
    // What such a writer leaves: pieces, and no empty one after them.
    const left = "insert into contents select position, 1048576, x'00ff' from things";
    chunksDb.transact(() => chunksDb.run(left));
    const { value } = await shelf.readContent(nameOf("a")).next();
    assert.equal(Buffer.from(value ?? []).toString(), "old");
    await shelf.writeContent(nameOf("a"), streamOf(Buffer.from("new")));
    assert.equal(count(stores, "contents"), 2);
  });

  it("finds things by indexes", async () => {
    const { chunksDb } = await openStores();
    const plan = (sql: string): string =>
      chunksDb
        .all(`explain query plan ${sql}`)
        .map(({ detail }) => String(detail))
        .join("; ");
    const things = "select * from things where tenant = 't' and kind = 'k'";
    assert.match(plan(`${things} order by position limit 1`), /things_by_kind/);
    assert.match(plan(`${things} and parent = 'p' order by position desc`), /things_by_parent/);
    for (const sql of [
      `${things} order by position`,
      `${things} and parent = 'p' order by position`,
    ]) {
      assert.doesNotMatch(plan(sql), /SCAN|TEMP B-TREE/);
    }
  });

  it("removes a thing and its runs together, or neither", async () => {
    const stores = await openStores();
    const { shelf, store, chunksDb } = stores;
    await shelf.put(newThing("a"));
    await store.createRun(newRun("run_a"));
    await store.createRun(newRun("run_a/1", { parent_id: "run_a" }));
    const counts = (): number[] => [count(stores, "things"), count(stores, "runs")];
    chunksDb.run(`create trigger broken before delete on runs when old.id = 'run_a/1' begin
      select raise(abort, 'as if the process had died here'); end`);
    await assert.rejects(shelf.removeAll([{ ...nameOf("a"), run: "run_a" }]));
    assert.deepEqual(counts(), [1, 2]);
    chunksDb.run("drop trigger broken");
    assert.equal(await shelf.removeAll([{ ...nameOf("a"), run: "run_a" }]), 1);
    assert.deepEqual(counts(), [0, 0]);
  });

  it("counts what runs of a tenant store, also their children, and subtracts it with them", async () => {
    const { shelf, store } = await openStores();
    await store.createRun(newRun("run_a", { input: "x".repeat(300_000), tenant: "t" }));
    const begun = await shelf.countBytes("t");
    assert.equal(begun, 300_002);
    await store.claim("run_a", "worker");
    await store.append("run_a", 1, 0, notices(3));
    await store.saveStep("run_a", 1, { key: "a", value: "0123456789" });
    const logged = await shelf.countBytes("t");
    assert.equal(logged - begun, Buffer.byteLength(JSON.stringify(notices(3))) + 12);
    await store.createRun(newRun("run_a/1", { parent_id: "run_a", input: "child" }));
    assert.equal(await shelf.countBytes("t"), logged + 7);
    await store.createRun(newRun("run_b"));
    await store.finish("run_a", 1, ended(3));
    assert.ok((await shelf.countBytes("t")) > logged + 7);
    await store.deleteTree("run_a");
    assert.equal(await shelf.countBytes("t"), 0);
  });

  it("returns the space of what was removed, a little at a time, except for a rest", async () => {
    const { shelf, chunksDb } = await openStores();
    const pages = (): number => Number(chunksDb.get("pragma page_count")?.["page_count"]);
    const body = "x".repeat(1_000_000);
    for (let at = 0; at < 10; at++) await shelf.put({ ...newThing(`thing_${at}`), body });
    const full = pages();
    assert.equal(await shelf.giveBack(), false);
    for (let at = 0; at < 10; at++) await shelf.delete(nameOf(`thing_${at}`));
    let steps = 1;
    while (await shelf.giveBack()) steps++;
    assert.ok(steps > 10, `in ${steps} steps`);
    const free = Number(chunksDb.get("pragma freelist_count")?.["freelist_count"]);
    assert.equal(free, 1024);
    assert.ok(pages() < full - 1000, `${full} pages before, ${pages()} now`);
  });
});
