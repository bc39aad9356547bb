/** Things with large bodies: kept in parts, written and read without blocking others. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, type Json } from "../../src/base/json.ts";
import { openDatabase, type SqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { createSqliteShelf } from "../../src/store/sqlite/sqlite-shelf.ts";
import { createSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { countTurns } from "../base/count-turns.ts";
import { newDatabasePath, withFailingDisk } from "./database-path.ts";
import { nameOf, newThing } from "./shelf-contract.ts";
import { ended, newRun } from "./store-contract.ts";

/** 6 MB, with characters of two bytes. */
const BODY: Json = {
  list: Array.from({ length: 600 }, (_, at) => ({ at, text: "é ".repeat(3300) })),
};
const BYTES = Buffer.byteLength(JSON.stringify(BODY));
/** Not large by itself; thirty of them are. */
const MEDIUM = "x".repeat(200_000);

async function open(path = newDatabasePath()) {
  const db = await openDatabase(path);
  return { db, shelf: createSqliteShelf(db), store: createSqliteStore(db) };
}

const count = (db: SqliteDatabase, table: string): number =>
  Number(db.get(`select count(*) as n from ${table}`)?.["n"]);

const query = { tenant: "tenant", kind: "kind", order: "oldest", limit: 100 } as const;

describe("a thing with a large body", () => {
  it("is written and read in many turns of the event loop, and comes back as it was", async () => {
    const { db, shelf } = await open();
    const put = await countTurns(() => shelf.put(newThing("a", { body: BODY })));
    assert.ok(put.turns >= 10, `written in ${put.turns} turns`);
    const got = await countTurns(() => shelf.get(nameOf("a")));
    assert.ok(got.turns >= 4, `read in ${got.turns} turns`);
    assert.deepEqual(got.value?.body, BODY);
    const listed = await countTurns(() => shelf.list(query));
    assert.ok(listed.turns >= 4, `listed in ${listed.turns} turns`);
    assert.deepEqual(listed.value[0]?.body, BODY);
    assert.equal(count(db, "drafts"), 0);
    db.close();
  });

  it("is put once, and nothing of a second one is left", async () => {
    const { db, shelf } = await open();
    assert.equal(await shelf.put(newThing("a", { body: BODY })), true);
    const parts = count(db, "parts");
    assert.equal(await shelf.put(newThing("a", { body: BODY })), false);
    assert.equal(await shelf.update(nameOf("b"), BODY), false);
    assert.deepEqual([count(db, "parts"), count(db, "drafts")], [parts, 0]);
    db.close();
  });

  it("is counted as it is written, replaced and removed, and takes its parts with it", async () => {
    const { db, shelf } = await open();
    await shelf.put(newThing("a", { body: BODY }));
    assert.equal(await shelf.countBytes("tenant"), BYTES);
    await shelf.update(nameOf("a"), "short");
    assert.deepEqual([await shelf.countBytes("tenant"), count(db, "parts")], [7, 0]);
    await shelf.update(nameOf("a"), BODY);
    assert.equal(await shelf.countBytes("tenant"), BYTES);
    await shelf.delete(nameOf("a"));
    assert.deepEqual([await shelf.countBytes("tenant"), count(db, "parts")], [0, 0]);
    db.close();
  });

  it("is changed by all concurrent callers, to large and to small and back", async () => {
    const { db, shelf } = await open();
    await shelf.put(newThing("a", { body: BODY }));
    const add = (body: Json): Json => {
      const object = isJsonObject(body) ? body : {};
      return { ...object, n: Number(object["n"] ?? 0) + 1 };
    };
    await Promise.all(Array.from({ length: 3 }, () => shelf.change(nameOf("a"), add)));
    assert.deepEqual((await shelf.get(nameOf("a")))?.body, { ...BODY, n: 3 });
    assert.deepEqual(await shelf.change(nameOf("a"), () => undefined), { ...BODY, n: 3 });
    assert.equal(await shelf.change(nameOf("a"), () => "short"), "short");
    assert.equal(count(db, "parts"), 0);
    assert.deepEqual(await shelf.change(nameOf("a"), () => BODY), BODY);
    assert.deepEqual((await shelf.get(nameOf("a")))?.body, BODY);
    db.close();
  });

  it("is missing if it is removed while it is read", async () => {
    const { db, shelf } = await open();
    await shelf.put(newThing("a", { body: BODY }));
    await shelf.put(newThing("b"));
    const reading = [shelf.get(nameOf("a")), shelf.list(query)] as const;
    await shelf.delete(nameOf("a"));
    const [one, all] = await Promise.all(reading);
    assert.equal(one, undefined);
    assert.deepEqual(
      all.map(({ id }) => id),
      ["b"],
    );
    db.close();
  });

  it("is a failure and not an endless search if the file has lost its parts", async () => {
    const { db, shelf } = await open();
    await shelf.put(newThing("a", { body: BODY }));
    db.run("delete from parts");
    await assert.rejects(shelf.get(nameOf("a")), { code: "store_failed" });
    db.close();
  });

  it("is read in its last state if it is replaced meanwhile", async () => {
    const { db, shelf } = await open();
    await shelf.put(newThing("a", { body: BODY }));
    const reading = shelf.get(nameOf("a"));
    await shelf.update(nameOf("a"), "short");
    assert.equal((await reading)?.body, "short");
    db.close();
  });

  it("may come with a run and with its ending", async () => {
    const { db, shelf, store } = await open();
    await store.createRun(newRun("run_1", { things: [newThing("a", { body: BODY })] }));
    const epoch = (await store.claim("run_1", "worker")) ?? 0;
    await store.finish("run_1", epoch, { ...ended(0), things: [newThing("b", { body: BODY })] });
    for (const id of ["a", "b"]) assert.deepEqual((await shelf.get(nameOf(id)))?.body, BODY);
    assert.equal(count(db, "drafts"), 0);
    db.close();
  });

  it("stays on the shelf if the disk fails after the commit", async () => {
    const { db } = await open();
    const shelf = createSqliteShelf(withFailingDisk(db, () => true));
    await assert.rejects(shelf.put(newThing("a", { body: BODY })), /disk failed/);
    assert.deepEqual((await shelf.get(nameOf("a")))?.body, BODY);
    db.close();
  });

  it("is worked on in its tenant's turn", async () => {
    const { db, shelf } = await open();
    const done: string[] = [];
    const put = (id: string, tenant: string): Promise<void> =>
      shelf.put(newThing(id, { tenant, body: BODY })).then(() => void done.push(tenant));
    const many = Array.from({ length: 6 }, (_, at) => put(`${at}`, "many"));
    await put("one", "one");
    assert.deepEqual(done, ["one"]);
    await Promise.all(many);
    db.close();
  });
});

describe("many things that are large together", () => {
  const things = Array.from({ length: 30 }, (_, at) => newThing(`${at}`, { body: MEDIUM }));

  it("are written and read in many turns of the event loop, all of them or none", async () => {
    const { db, shelf } = await open();
    const put = await countTurns(() => shelf.putAll(things));
    assert.ok(put.turns >= 4, `written in ${put.turns} turns`);
    const read = await countTurns(() => shelf.list(query));
    assert.ok(read.turns >= 4, `read in ${read.turns} turns`);
    assert.deepEqual(
      read.value.map(({ id, body }) => [id, body === MEDIUM]),
      things.map(({ id }) => [id, true]),
    );
    db.close();
  });
});
