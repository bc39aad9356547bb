import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createChunkStore } from "../../src/store/chunk-store.ts";
import type { Shelf } from "../../src/store/shelf.ts";
import { openConnection } from "../../src/store/sqlite-driver.ts";
import { openSqliteStores, type SqliteStores } from "../../src/store/sqlite-store.ts";
import { describeShelf, nameOf, newThing, streamOf } from "./shelf-contract.ts";
import { describeStorage } from "./storage-contract.ts";
import { newRun } from "./store-contract.ts";

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

describe("a SQLite file that is open", () => {
  const hasLocks = existsSync("/proc/locks");
  const name = "keeps its lock when this process opens it again";
  it(hasLocks ? name : `${name} (skipped: the system does not tell)`, {
    skip: !hasLocks,
  }, async () => {
    const path = join(directory, "locked.db");
    const { shelf } = await openStores(path);
    await shelf.put(newThing("a"));
    await openStores(path);
    // `... PID MAJOR:MINOR:INODE START END`
    const lock = new RegExp(` ${process.pid} [\\da-f]+:[\\da-f]+:${statSync(path).ino} `);
    assert.match(readFileSync("/proc/locks", "utf8"), lock);
  });

  it("finds what is below a thing by its parent, however much the tenant has", async () => {
    const path = join(directory, "plan.db");
    await openStores(path);
    const connection = await openConnection(path);
    const plan = connection
      .prepare(`explain query plan with recursive doomed (position, id) as (
        select position, id from things where tenant = 't' and kind = 'k' and id = 'i' union
        select below.position, below.id from doomed
        cross join things as below on below.tenant = 't' and below.parent = doomed.id)
        select * from doomed`)
      .all()
      .map(({ detail }) => String(detail));
    connection.close();
    assert.ok(
      plan.some((step) => /^SEARCH below .*\(tenant=\? AND parent=\?\)/.test(step)),
      plan.join("\n"),
    );
  });
});

describeShelf("SQLite shelf", openShelf);
describeStorage("SQLite shelf", openShelf);

describe("SQLite shelf: the file", () => {
  const count = ({ chunksDb }: SqliteStores, table: string): number =>
    Number(chunksDb.get(`select count(*) as n from ${table}`)?.["n"]);

  it("counts what was kept before anybody counted", async () => {
    const path = join(directory, "old.db");
    const first = await openSqliteStores(path);
    const { shelf, chunksDb } = first;
    await shelf.put(newThing("a", { body: "12345678" }));
    await shelf.put(newThing("b", { tenant: "other", body: {} }));
    await shelf.writeContent(nameOf("a"), streamOf(Buffer.alloc(2_000_000)));
    const place = { tenant: "tenant", store: "vs", file: "f" };
    const embedding = { vector: new Float32Array(10), model: "m" };
    await createChunkStore(chunksDb).put(place, 0, [{ text: "words", embedding }]);
    const now = await shelf.countBytes("tenant");
    // As it was before the tables that count.
    chunksDb.transact("process", () => {
      for (const table of ["contents", "things", "chunks"]) {
        chunksDb.run(`drop trigger ${table}_counted`);
        chunksDb.run(`drop trigger ${table}_uncounted`);
      }
      chunksDb.run("drop trigger things_recounted");
      chunksDb.run("drop table storage");
      chunksDb.run("alter table things drop column content_bytes");
      chunksDb.run("pragma user_version = 3");
    });
    await first.close();
    const later = await openStores(path);
    assert.equal(now, 10 + 2_000_000 + 5 + 40);
    assert.equal(await later.shelf.countBytes("tenant"), now);
    assert.equal(await later.shelf.countBytes("other"), 2);
    await createChunkStore(later.chunksDb).trim(place, 0);
    await later.shelf.delete(nameOf("a"));
    assert.equal(await later.shelf.countBytes("tenant"), 0);
  });

  it("holds runs and things side by side, and keeps both over closing", async () => {
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
    const [one, other] = [await openStores(path), await openStores(path)];
    await one.shelf.put(newThing("a", { body: 0 }));
    assert.equal(await other.shelf.put(newThing("a")), false);
    const add = (body: unknown): number => Number(body) + 1;
    for (const { shelf } of [one, other, one]) await shelf.change(nameOf("a"), add);
    assert.equal((await other.shelf.get(nameOf("a")))?.body, 3);
  });

  it("has no bytes left of what was replaced, broken off or removed", async () => {
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

  it("takes over from a writer whose process died", async () => {
    const stores = await openStores();
    const { shelf, chunksDb } = stores;
    await shelf.put(newThing("a"));
    await shelf.writeContent(nameOf("a"), streamOf(Buffer.from("old")));
    // What such a writer leaves: pieces, and no empty one behind them.
    const left = "insert into contents select position, 1048576, x'00ff' from things";
    chunksDb.transact("process", () => chunksDb.run(left));
    const { value } = await shelf.readContent(nameOf("a")).next();
    assert.equal(Buffer.from(value ?? []).toString(), "old");
    await shelf.writeContent(nameOf("a"), streamOf(Buffer.from("new")));
    assert.equal(count(stores, "contents"), 2);
  });

  it("finds things by their indexes", async () => {
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
});
