import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLog } from "../../../src/base/log.ts";
import { readMonotonicBoot, readMonotonicMs } from "../../../src/base/processes.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { removeOrphans, sweep, sweepBooks } from "../../../src/server/running/sweep.ts";
import { createMemoryAudit } from "../../../src/store/memory/memory-audit.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createMemorySpending } from "../../../src/store/memory/memory-spending.ts";
import { openSqliteStores } from "../../../src/store/sqlite/sqlite-store.ts";
import { createManualClock, reply, script } from "../../../src/testing/index.ts";
import { newDatabasePath } from "../../store/database-path.ts";
import { startServer } from "../server-bench.ts";

/** Nothing in these sweeps has a run. */
const NO_RUNS = {} as Engine;

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

  it("lets the event loop turn between its pages", async () => {
    const shelf = createMemoryShelf();
    const kept = { tenant: "t", kind: "file", parent: null, body: {}, created_at_ms: 0 };
    for (let file = 0; file < 1000; file++) {
      await shelf.put({ ...kept, id: `file_${file}`, expires_at_ms: 1 });
    }
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const parts = { shelf, durable: NO_RUNS, clock: createManualClock(5), log: silentLog };
    assert.equal(await sweep(parts), 1000);
    isOver = true;
    // Pages have 256 things at most.
    assert.ok(turns >= 4, `the loop turned ${turns} times`);
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
      ...{ shelf, durable: NO_RUNS, clock: createManualClock(5), log: silentLog },
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

  it("removes what the audit has kept for long enough, and all of it stays where nothing is said", async () => {
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
