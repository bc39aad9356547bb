import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLog } from "../../../src/base/log.ts";
import { readMonotonicBoot, readMonotonicMs } from "../../../src/base/processes.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { createHealthRoutes } from "../../../src/server/routes/health.ts";
import { createHealth } from "../../../src/server/running/health.ts";
import { removeOrphans, sweep, sweepBooks } from "../../../src/server/running/sweep.ts";
import { createMemoryAudit } from "../../../src/store/memory/memory-audit.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createMemorySpending } from "../../../src/store/memory/memory-spending.ts";
import type { Shelf } from "../../../src/store/shelf.ts";
import { openSqliteStores } from "../../../src/store/sqlite/sqlite-store.ts";
import { createManualClock, reply, script } from "../../../src/testing/index.ts";
import { countTurns } from "../../base/count-turns.ts";
import { newDatabasePath } from "../../store/database-path.ts";
import { startServer } from "../server-fixture.ts";

/** Nothing in these sweeps has a run. */
const NO_RUNS = {} as Engine;

const SHELVES: readonly (readonly [string, () => Promise<OpenedShelf>])[] = [
  ["memory", async () => ({ shelf: createMemoryShelf(), close: async () => {} })],
  ["SQLite", () => openSqliteStores(newDatabasePath())],
];

interface OpenedShelf {
  readonly shelf: Shelf;
  close(): Promise<void>;
}

/** Responses that have ended and outlived their time, each with a log. */
async function addExpired(path: string, count: number): Promise<void> {
  const { chunksDb: db, close } = await openSqliteStores(path);
  const numbers = `with recursive numbers (n) as
    (values (1) union all select n + 1 from numbers where n < ${count})`;
  db.transact(() => {
    db.run(`insert into runs (id, path, name, title, created_at_ms, status, ending, ended_at_ms)
      ${numbers} select 'run_' || n, '/root', 'response', '', 0, 'ended', 'completed', 0 from numbers`);
    db.run(`insert into events (run_id, first_seq, count, epoch, body)
      ${numbers} select 'run_' || n, 0, 1, 1, '["' || hex(zeroblob(2000)) || '"]' from numbers`);
    db.run(`insert into things (tenant, kind, id, body, created_at_ms, expires_at_ms)
      ${numbers} select 'tenant', 'response', 'resp_' || n, '{}', 0, 1 from numbers`);
  });
  await close();
}

describe("the sweep", () => {
  it("removes responses with their runs, and other things, when their time is over", async (t) => {
    const settings = { ttlMs: 1000 };
    const server = await startServer(t, script(reply.text("One."), reply.text("Two.")), {
      settings,
    });
    const { shelf, durable } = server.responses;
    const { id } = await server.create({ input: "Hi" });
    const kept = { tenant: "tenant", kind: "file", parent: null, body: {}, created_at_ms: 0 };
    await shelf.put({ ...kept, id: "file_old", expires_at_ms: 5 });
    await shelf.put({ ...kept, id: "file_young", expires_at_ms: null });
    const clock = createManualClock();
    const runs = async (): Promise<number> => (await durable.record.listRuns({ limit: 10 })).length;

    const early = { ...clock, now: () => 1 };
    assert.equal(await sweep({ shelf, durable, clock: early, log: silentLog }), 0);
    assert.equal(await runs(), 1);
    const late = { ...clock, now: () => Number.MAX_SAFE_INTEGER };
    assert.equal(await sweep({ shelf, durable, clock: late, log: silentLog }), 2);
    assert.equal(await runs(), 0);
    assert.equal((await server.ask("GET", `/v1/responses/${id}`)).status, 404);
    const names = ["file_old", "file_young"].map((file) => ({ ...kept, id: file }));
    const found = await Promise.all(names.map((name) => shelf.get(name)));
    assert.deepEqual(
      found.map((thing) => thing?.id),
      [undefined, "file_young"],
    );
  });

  for (const [where, open] of SHELVES) {
    it(`leaves what was used again since it was found, in ${where}`, async () => {
      const { shelf, close } = await open();
      const kept = { tenant: "t", parent: null, body: {}, created_at_ms: 0, expires_at_ms: 1 };
      const touched = { ...kept, kind: "container", id: "touched" };
      const replaced = { ...kept, kind: "idempotency_key", id: "replaced" };
      await shelf.putAll([touched, replaced]);
      const next = { ...replaced, body: { made: "resp_2" }, expires_at_ms: 9 };
      const expire = async ({ id }: { readonly id: string }): Promise<void> => {
        if (id === "touched") await shelf.setExpiry(touched, 9);
        else await shelf.claim({ claim: next, things: [], isOver: () => true });
      };
      const clock = { ...createManualClock(), now: () => 5 };
      await sweep({ shelf, durable: NO_RUNS, expire, clock, log: silentLog });
      assert.ok(await shelf.get(touched));
      assert.deepEqual((await shelf.get(replaced))?.body, { made: "resp_2" });
      await close();
    });

    it(`removes what was made of a file also after it, in ${where}`, async () => {
      const { shelf, close } = await open();
      const file = { tenant: "t", kind: "file", id: "a", parent: null, body: {} };
      await shelf.put({ ...file, created_at_ms: 0, expires_at_ms: 1 });
      const found: boolean[] = [];
      const expire = async (): Promise<void> =>
        void found.push((await shelf.get(file)) !== undefined);
      const clock = { ...createManualClock(), now: () => 5 };
      assert.equal(await sweep({ shelf, durable: NO_RUNS, expire, clock, log: silentLog }), 1);
      assert.deepEqual(found, [true, false]);
      await close();
    });

    it(`lets the event loop turn between its pages, in ${where}`, async () => {
      const { shelf, close } = await open();
      const kept = { tenant: "t", kind: "file", parent: null, body: {}, created_at_ms: 0 };
      const files = Array.from({ length: 1000 }, (_, at) => `file_${at}`);
      await shelf.putAll(files.map((id) => ({ ...kept, id, expires_at_ms: 1 })));
      const parts = { shelf, durable: NO_RUNS, clock: createManualClock(5), log: silentLog };
      const { turns, value } = await countTurns(() => sweep(parts));
      assert.equal(value, 1000);
      // Pages have 256 things at most.
      assert.ok(turns >= 4, `the loop turned ${turns} times`);
      await close();
    });
  }

  it("of many responses in SQLite has health checks answered between its pages", async (t) => {
    const storePath = newDatabasePath();
    const health = createHealth({
      clock: createManualClock(),
      isDraining: () => false,
      isDamaged: () => false,
      engine: () => assert.fail("whether it lives is known without the record"),
    });
    const server = await startServer(t, script(), {
      storePath,
      server: { routes: createHealthRoutes(health) },
    });
    await addExpired(storePath, 4000);
    const { shelf, durable } = server.responses;
    let pages = 0;
    let answers = 0;
    let between = 0;
    const removeAll = shelf.removeAll.bind(shelf);
    shelf.removeAll = async (...doomed) => {
      pages++;
      between = answers;
      return await removeAll(...doomed);
    };
    const clock = createManualClock(5);
    let isOver = false;
    const sweeping = sweep({ shelf, durable, clock, log: silentLog }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      assert.equal((await server.ask("GET", "/healthz")).status, 200);
      answers++;
    }
    assert.equal(await sweeping, 4000);
    // Pages have 256 responses at most, and an answer takes a few turns.
    assert.ok(between >= 3, `${between} answers between ${pages} pages`);
  });

  it("leaves what cannot be removed, and removes all that comes after it", async () => {
    const log: string[] = [];
    const shelf = createMemoryShelf();
    const kept = { tenant: "t", kind: "file", parent: null, body: {}, created_at_ms: 0 };
    for (let file = 100; file < 140; file++) {
      await shelf.put({ ...kept, id: `file_${file}`, expires_at_ms: file });
    }
    const expire = async ({ id }: { id: string }): Promise<void> => {
      if (id < "file_120") throw new Error("no");
    };
    const watched = { ...silentLog, warn: (text: string) => void log.push(text) };
    const clock = createManualClock(1000);
    assert.equal(await sweep({ shelf, durable: NO_RUNS, expire, clock, log: watched }), 20);
    assert.equal(log.length, 20);
    assert.equal((await shelf.listExpired(1000, 100)).length, 20);
  });

  it("removes what crashes left of large values, one in a transaction, each time", async () => {
    const { shelf, chunksDb: db, close } = await openSqliteStores(newDatabasePath());
    const clock = createManualClock(5);
    await removeOrphans({ shelf, clock });
    const draft = "insert into drafts (id, created_at_ms, boot, grew_ms) values (?, 0, ?, ?)";
    const leave = (id: string, agoMs: number): void => {
      db.run(draft, id, readMonotonicBoot(), readMonotonicMs() - agoMs);
      for (const part of [0, 1]) {
        db.run("insert into parts (id, part, bytes) values (?, ?, zeroblob(9))", id, part);
      }
    };
    const left = (table: string): string[] =>
      db.all(`select distinct id from ${table} order by id`).map(({ id }) => String(id));
    const seen: string[][] = [];
    const yieldTurn = async (): Promise<void> => void seen.push(left("drafts"));
    const parts = { shelf, durable: NO_RUNS, clock, log: silentLog, yieldTurn };
    for (const id of ["a", "b", "c"]) leave(id, 3_600_000);
    leave("young", 60_000);
    assert.equal(await sweep(parts), 0);
    assert.deepEqual(seen, [["b", "c", "young"], ["c", "young"], ["young"]]);
    assert.deepEqual([left("parts"), left("drafts")], [["young"], ["young"]]);
    leave("later", 3_600_000);
    await sweep(parts);
    assert.deepEqual([left("parts"), left("drafts")], [["young"], ["young"]]);
    await close();
  });

  it("ends between two pages when the server closes", async () => {
    const shelf = createMemoryShelf();
    const kept = { tenant: "t", kind: "file", parent: null, body: {}, created_at_ms: 0 };
    for (let file = 0; file < 500; file++) {
      await shelf.put({ ...kept, id: `file_${file}`, expires_at_ms: 1 });
    }
    let isClosing = false;
    const removed = await sweep({
      shelf,
      durable: NO_RUNS,
      clock: createManualClock(5),
      log: silentLog,
      isOver: () => isClosing,
      yieldTurn: async () => {
        isClosing = true;
      },
    });
    assert.ok(removed > 0 && removed < 500, String(removed));
  });

  it("removes runs whose response is gone, with all below them, once for a file", async () => {
    const { shelf, store, close } = await openSqliteStores(newDatabasePath());
    const body = { input: null, title: "", path: "/root", created_at_ms: 1, parent_id: null };
    const thing = { tenant: "t", kind: "response", parent: null, body: {}, created_at_ms: 0 };
    for (let number = 0; number < 50; number++) {
      await store.createRun({ ...body, id: `run_${number}`, name: "response" });
      const child = { id: `run_${number}/a`, name: "response", parent_id: `run_${number}` };
      await store.createRun({ ...body, ...child });
      const kept = { ...thing, id: `resp_${number}`, expires_at_ms: null };
      if (number % 5 > 0) await shelf.put({ ...kept, tenant: `t${number % 3}` });
    }
    await store.createRun({ ...body, id: "run_agent", name: "agent" });
    const ids = async (): Promise<number> => (await store.listRuns({ limit: 999 })).length;
    const clock = createManualClock();
    let pages = 0;
    const yieldTurn = async (): Promise<void> => void pages++;
    await removeOrphans({ shelf, clock, yieldTurn });
    assert.equal(await ids(), 40 * 2 + 1);
    assert.equal(await store.getRun("run_0"), undefined);
    assert.equal(await store.getRun("run_0/a"), undefined);
    assert.ok(await store.getRun("run_1/a"));
    assert.ok(pages > 1);
    await store.createRun({ ...body, id: "run_later", name: "response" });
    await removeOrphans({ shelf, clock, yieldTurn });
    assert.ok(await store.getRun("run_later"), "the file was looked through already");
    await close();
  });

  it("removes audit entries after their time, and keeps all of them by default", async () => {
    const audit = createMemoryAudit();
    const rest = { tenant: "a", key_id: null, target: null, status: 200, address: null };
    for (const at_ms of [1, 400, 900]) audit.write({ ...rest, at_ms, action: "POST /v1/files" });
    const clock = createManualClock(1000);
    const parts = { audit, spending: createMemorySpending(), clock };
    const times = async (): Promise<number[]> =>
      (await audit.list({ limit: 10 })).map(({ at_ms }) => at_ms);
    await sweepBooks({ ...parts, auditKeptMs: null });
    assert.deepEqual(await times(), [900, 400, 1]);
    await sweepBooks({ ...parts, auditKeptMs: 600 });
    assert.deepEqual(await times(), [900, 400]);
    await clock.advance(1);
    await sweepBooks({ ...parts, auditKeptMs: 600 });
    assert.deepEqual(await times(), [900]);
  });
});
