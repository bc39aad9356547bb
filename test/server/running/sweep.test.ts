import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLog } from "../../../src/base/log.ts";
import { sweep, sweepBooks } from "../../../src/server/running/sweep.ts";
import { createMemoryAudit } from "../../../src/store/audit.ts";
import { createMemoryShelf } from "../../../src/store/memory-shelf.ts";
import { createMemorySpending } from "../../../src/store/spending.ts";
import { createManualClock, reply, script } from "../../../src/testing/index.ts";
import { startServer } from "../server-bench.ts";

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
    const runs = async (): Promise<number> => (await durable.store.listRuns({ limit: 10 })).length;

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

  it("gives way to others after each thing that it removes", async () => {
    const shelf = createMemoryShelf();
    const kept = { tenant: "t", kind: "file", parent: null, body: {}, created_at_ms: 0 };
    for (let at = 0; at < 20; at++)
      await shelf.put({ ...kept, id: `file_${at}`, expires_at_ms: 1 });
    const clock = { ...createManualClock(), now: () => 5 };
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const parts = { shelf, durable: {} as never, clock, log: silentLog };
    assert.equal(await sweep(parts), 20);
    isOver = true;
    assert.ok(turns >= 20, `${turns} turns`);
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
