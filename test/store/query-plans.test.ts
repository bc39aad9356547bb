/** Asks the SQLite in use how it answers every query of the stores: none may read a whole large table. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ChunkStore } from "../../src/store/chunk-store.ts";
import type { Spending } from "../../src/store/spending.ts";
import { createSqliteAudit } from "../../src/store/sqlite/sqlite-audit.ts";
import { createSqliteChunks } from "../../src/store/sqlite/sqlite-chunks.ts";
import { openDatabase, type SqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { createSqliteIndex } from "../../src/store/sqlite/sqlite-index.ts";
import { createSqliteShelf } from "../../src/store/sqlite/sqlite-shelf.ts";
import { createSqliteSpending } from "../../src/store/sqlite/sqlite-spending.ts";
import { createSqliteState } from "../../src/store/sqlite/sqlite-state.ts";
import { createSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createManualClock } from "../../src/testing/index.ts";
import { newDatabasePath } from "./database-path.ts";
import { ended, newRun, notices } from "./store-contract.ts";

/** Tables that grow with everything that was ever stored. */
const LARGE = [
  "runs",
  "events",
  "steps",
  "blobs",
  "parts",
  "signals",
  "things",
  "contents",
  "chunks",
  "audit",
  "run_facts",
  "spans",
  "usage",
];

/** Plans that walk along an index in the requested order, and stop at the limit; or that are small by nature. */
const FINE = [
  // Newest first, a page of them.
  "SCAN runs USING INDEX runs_by_age",
  // The partial index has only running ones.
  "SCAN runs USING INDEX runs_running",
  // By number, newest first, a page of them.
  "SCAN audit",
  // The first in an order, one of them.
  "SCAN things USING COVERING INDEX things_by_kind",
  "SCAN run_facts USING INDEX facts_by_tenant",
  // The newest of a tenant: the end of the index.
  "SEARCH run_facts USING INDEX facts_by_tenant (tenant=?)",
];

describe("the plans of all queries", () => {
  it("read no large table from end to end, nor everything of a tenant", async () => {
    const { db, asked } = await openRecorded();
    await useEverything(db);
    assert.ok(asked.size > 50, `only ${asked.size} queries`);
    for (const sql of asked) {
      for (const step of explain(db, sql)) {
        // A search for everything of a tenant reads as much as the whole table.
        const [, scanned, searched] = /^SCAN (\w+)|^SEARCH (\w+) .*\(tenant=\?\)$/.exec(step) ?? [];
        const table = scanned ?? searched;
        const isLarge = table !== undefined && LARGE.includes(toTable(sql, table));
        assert.ok(!isLarge || FINE.includes(step), `${step}\n${sql}`);
      }
    }
    db.close();
  });

  it("find what is below a thing and a run by its parent, however much the tenant has", async () => {
    const { db, asked } = await openRecorded();
    await useEverything(db);
    const recursive = [...asked].filter((sql) => /with recursive (?!\s*(kinds|chain))/.test(sql));
    assert.equal(recursive.length, 2);
    for (const sql of recursive) {
      const steps = explain(db, sql).join("\n");
      assert.match(steps, /SEARCH \w+ USING (COVERING )?INDEX \w+_by_parent \(.*parent\w*=\?/, sql);
    }
    db.close();
  });

  it("follow a chain of things by their names", async () => {
    const { db, asked } = await openRecorded();
    await useEverything(db);
    const chains = [...asked].filter((sql) => sql.startsWith("with recursive chain"));
    assert.equal(chains.length, 1);
    const steps = explain(db, chains[0] ?? "").filter((step) => / things /.test(step));
    assert.ok(steps.length >= 3);
    for (const step of steps) assert.match(step, /SEARCH .*\(tenant=\? AND kind=\? AND id=\?\)/);
    db.close();
  });
});

/** The table that a name in a plan means: most are names of tables. */
function toTable(sql: string, name: string): string {
  return new RegExp(`\\b(\\w+) as ${name}\\b`).exec(sql)?.[1] ?? name;
}

function explain(db: SqliteDatabase, sql: string): string[] {
  return db.all(`explain query plan ${sql}`).map(({ detail }) => String(detail));
}

async function openRecorded(): Promise<{ db: SqliteDatabase; asked: Set<string> }> {
  const db = await openDatabase(newDatabasePath());
  const asked = new Set<string>();
  const note = (sql: string): string => {
    if (!/^\s*(pragma|explain)/.test(sql)) asked.add(sql);
    return sql;
  };
  const recorded: SqliteDatabase = {
    ...db,
    run: (sql, ...values) => db.run(note(sql), ...values),
    get: (sql, ...values) => db.get(note(sql), ...values),
    all: (sql, ...values) => db.all(note(sql), ...values),
  };
  return { db: recorded, asked };
}

async function useState(db: SqliteDatabase): Promise<void> {
  const state = createSqliteState(db);
  const index = createSqliteIndex(db);
  await state.listWorkers(0);
  await state.listLanes();
  await state.listStorage();
  await state.countKinds();
  for (const tenant of [undefined, "t"]) await index.readNews(tenant);
}

async function useEverything(db: SqliteDatabase): Promise<void> {
  // What a crash left in another boot long ago, which is seen and then removed.
  db.run("insert into drafts (id, created_at_ms) values ('a', 0)");
  await useAll(createSqliteStore(db), useRuns);
  db.run("update drafts set grew_ms = grew_ms - 3600000");
  await useAll(createSqliteShelf(db), useThings);
  await useAll(createSqliteChunks(db), useChunks);
  await useAll(createSqliteSpending(db), useSpending);
  const audit = createSqliteAudit(db, createManualClock());
  const rest = { tenant: "a", key_id: null, target: null, status: 200, address: null };
  audit.write({ ...rest, at_ms: 1, action: "POST /v1/files" });
  await audit.list({ limit: 1 });
  await audit.list({ limit: 1, before: 5 });
  await audit.list({ limit: 1, time: [0, 9] });
  await audit.list({ limit: 1, keyId: "k", tenant: "t", action: "/v1", status: [400, 500] });
  await audit.prune(1);
  await useState(db);
}

/** Fails when `use` does not call a new method: its queries would not be checked. */
async function useAll<Kept extends object>(
  kept: Kept,
  use: (kept: Kept) => Promise<void>,
): Promise<void> {
  const called = new Set<string>();
  const watched = new Proxy(kept, {
    get(target, name) {
      called.add(String(name));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  await use(watched);
  const own = [...Object.getOwnPropertyNames(Object.getPrototypeOf(kept)), ...Object.keys(kept)];
  const methods = own.filter((name) => typeof Reflect.get(kept, name) === "function");
  const ignored = new Set([...Object.getOwnPropertyNames(Object.prototype), "close", "checkRoom"]);
  const forgotten = methods.filter((name) => !called.has(name) && !ignored.has(name));
  assert.deepEqual(forgotten, [], "not called here");
}

async function useRuns(store: ReturnType<typeof createSqliteStore>): Promise<void> {
  const large = "x".repeat(300_000);
  await store.createRun(newRun("run_1", { input: large }));
  await store.recordRun(newRun("run_0"), ended(0));
  await store.claim("run_1", "worker");
  await store.append("run_1", 1, 0, notices(1));
  await store.saveStep("run_1", 1, { key: "a", value: large });
  await store.readSteps("run_1");
  await store.readEvents("run_1", -1, 10);
  await store.putSignal("run_1", { topic: "t", key: "k", body: 1 });
  await store.findSignals("worker", "t");
  await store.takeSignal("run_1", 1, "t");
  await store.putSignal("run_1", { topic: "u", key: "k", body: 1 });
  await store.takeSignals("run_1", 1, { topic: "u", key: "@take" });
  await store.getRun("run_1");
  await store.getRunStatus("run_1");
  for (const parent_id of [undefined, null, "run_1"]) {
    for (const status of [undefined, "running", "ended"] as const) {
      await store.listRuns({ limit: 1, parent_id, status });
      await store.listRuns({ limit: 1, parent_id, status, before: "run_1" });
    }
  }
  await store.listRuns({ limit: 1, parent_id: null, without: "index" });
  await store.listUnfinished();
  await useQueue(store);
  await store.finish("run_1", 1, ended(1));
  await store.beat({
    id: "w",
    host: "h",
    pid: 1,
    boot: "b",
    pid_namespace: "n",
    started: "1",
    beat_at_ms: 1,
    beat_ms: 1,
  });
  await store.getWorker("w");
  await store.checkWritable();
  await store.deleteRun("none");
  await store.deleteTree("run_1");
}

async function useQueue(store: ReturnType<typeof createSqliteStore>): Promise<void> {
  const place = { queue: "background", lane: "t", atOnce: 1 };
  await store.awaitTurn("run_1", 1, place);
  await store.createQueued(newRun("run_2"), { ...place, maxWaiting: 1 });
  await store.claim("run_2", "worker");
  await store.awaitTurn("run_2", 1, place);
  await store.countWaiting("background");
  await store.giveTurnBack("run_1", 1);
  assert.ok(await store.takeTurn("worker", place));
}

async function useThings(shelf: ReturnType<typeof createSqliteShelf>): Promise<void> {
  const name = { tenant: "t", kind: "file", id: "a" };
  const thing = { ...name, parent: null, body: {}, created_at_ms: 1, expires_at_ms: 1 };
  await shelf.put(thing);
  await shelf.putAll([{ ...thing, id: "b", parent: "a" }]);
  await shelf.putUnder(name, [{ ...thing, id: "d", parent: "a" }]);
  const claim = { ...thing, id: "c" };
  for (const isOver of [() => false, () => true]) await shelf.claim({ claim, things: [], isOver });
  await shelf.get(name);
  for (const parent of [undefined, "a"]) {
    for (const order of ["oldest", "newest"] as const) {
      const query = { tenant: "t", kind: "file", parent, order, limit: 1 };
      await shelf.list(query);
      await shelf.list({ ...query, after: "a" });
      await shelf.list({ ...query, before: "b" });
      await shelf.list({ ...query, after: "a", before: "b" });
    }
  }
  await shelf.readChain({ ...name, field: "before", beside: "l", limit: 9 });
  await shelf.update(name, {});
  await shelf.change(name, () => ({}));
  await shelf.setExpiry(name, 5);
  await shelf.listExpired(9, 9);
  await shelf.writeContent(name, toBytes());
  for await (const _ of shelf.readContent(name));
  await shelf.countBytes("t");
  await shelf.removeLeftover();
  await shelf.giveBack();
  const orphans = { name: "response", kind: "response", runPrefix: "run_", thingPrefix: "resp_" };
  await shelf.removeOrphans({ ...orphans, after: 0, limit: 9 });
  await shelf.removeAll([{ ...name, run: "run_1" }]);
  await shelf.delete(name);
}

async function* toBytes(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(10);
}

async function useChunks(chunks: ChunkStore): Promise<void> {
  const place = { tenant: "t", store: "vs", file: "f" };
  await chunks.put(place, 0, [{ text: "words", embedding: null }]);
  await chunks.put(place, 1, [{ text: "words", embedding: null }], "run_1");
  const terms = [
    { kind: "word", text: "words", prefix: false },
    { kind: "piece", text: "ord" },
  ] as const;
  await chunks.findByWords({ ...place, terms, weights: [1], files: undefined, limit: 1 });
  await chunks.countWords(place, terms);
  await chunks.readVectors({ ...place, model: "m", files: undefined, after: undefined, limit: 1 });
  await chunks.findNearest({
    ...place,
    model: "m",
    vector: new Float32Array(1),
    files: undefined,
    except: [],
    count: 1,
    names: [],
  });
  await chunks.getChunk(place, 1);
  await chunks.trim(place, 0);
  await chunks.deleteStore(place);
}

async function useSpending(spending: Spending): Promise<void> {
  const limits = { total: { usd: 10 } };
  await spending.take("k", { requests: 1, tokens: 1, usd: 1 }, limits, 0);
  await spending.settle("k", { usd: 1 }, { takenMs: 0, nowMs: 0, holdId: "run_1" });
  const one = { tokens: 1, usd: 1 };
  await spending.hold("k", { id: "run_1", least: one, most: one }, limits, 0);
  await spending.readHolds("k");
  await spending.keepHolds(["run_1"], 1);
  await spending.listStaleHolds({ beforeMs: 2, after: undefined, limit: 1 });
  await spending.dropHolds(["run_1"], 2);
  await spending.read("k", 0);
  await spending.list(undefined);
  await spending.prune(1);
  await spending.forget("k");
}
