/**
 * Postgres as a record over a connection that is lost: right after a write was carried out, so that only its answer is
 * lost; in the middle of a transaction; and by a process that stands still. A write that is tried again is done once.
 */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { Failure } from "../../../src/base/failure.ts";
import type { KeptRecord } from "../../../src/store/kept.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import {
  openDatabase,
  type PostgresDatabase,
} from "../../../src/store/postgres/postgres-database.ts";
import { createPostgresShelf } from "../../../src/store/postgres/postgres-shelf.ts";
import { forgetOldWorkers } from "../../../src/store/postgres/postgres-workers.ts";
import type { Store } from "../../../src/store/store.ts";
import { untilTrue } from "../../patience.ts";
import { streamOf } from "../shelf-contract.ts";
import { newRun, notices } from "../store-contract.ts";
import { COMMIT, type PostgresProxy, startPostgresProxy } from "./postgres-proxy.ts";
import { POSTGRES_LACK, startPostgres } from "./postgres-server.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

interface Bench extends AsyncDisposable {
  readonly address: string;
  readonly proxy: PostgresProxy;
  readonly kept: KeptRecord;
  query(sql: string): Promise<Record<string, unknown>[]>;
}

async function openBench(): Promise<Bench> {
  const address = (await server?.newAddress()) ?? assert.fail();
  const proxy = await startPostgresProxy(address);
  const kept = await openKept(proxy.address);
  await kept.runs();
  return {
    address,
    proxy,
    kept,
    query: async (sql) => (await server?.query(address, sql)) ?? [],
    async [Symbol.asyncDispose]() {
      await kept.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

async function openRun({ kept }: Bench): Promise<Store> {
  const store = await kept.runs();
  await store.createRun(newRun("run_1"));
  await store.claim("run_1", "worker_1");
  return store;
}

/** A database that has answered before: one that never answered is not awaited. */
async function openKnown(address: string, clock?: Clock): Promise<PostgresDatabase> {
  const db = await openDatabase(address, { clock });
  await db.get("select 1");
  return db;
}

/** Does the work while the answer to its commit is lost. */
async function losing<Out>({ proxy }: Bench, work: () => Promise<Out>): Promise<Out> {
  proxy.loseAnswerTo(COMMIT);
  const done = await work();
  assert.equal(proxy.lost, 1, "an answer was lost");
  return done;
}

const DAY = Date.UTC(2030, 0, 1, 12);
const thing = { tenant: "a", kind: "k", id: "1", parent: null, body: {}, expires_at_ms: null };
const held = POSTGRES_LACK === undefined ? "" : ` (skipped: ${POSTGRES_LACK})`;
const SKIP = { skip: POSTGRES_LACK !== undefined };

describe(`a write to Postgres whose answer is lost${held}`, SKIP, () => {
  it("takes each message once, and loses none", async () => {
    await using bench = await openBench();
    const store = await openRun(bench);
    for (const key of ["1", "2"]) await store.putSignal("run_1", { topic: "t", key, body: key });
    assert.equal(await losing(bench, () => store.takeSignal("run_1", 1, "t")), "1");
    assert.equal(await store.takeSignal("run_1", 1, "t"), "2");
    assert.equal(await store.takeSignal("run_1", 1, "t"), undefined);
  });

  it("takes all messages of a look", async () => {
    await using bench = await openBench();
    const store = await openRun(bench);
    for (const key of ["1", "2"]) await store.putSignal("run_1", { topic: "t", key, body: key });
    const from = { topic: "t", key: "@take:t:model:1" };
    assert.deepEqual(await losing(bench, () => store.takeSignals("run_1", 1, from)), ["1", "2"]);
    assert.deepEqual((await store.readSteps("run_1")).get(from.key), ["1", "2"]);
  });

  it("gives a turn to the run that asked for it", async () => {
    await using bench = await openBench();
    const store = await openRun(bench);
    await store.createRun(newRun("run_2"));
    await store.claim("run_2", "worker_1");
    for (const id of ["run_1", "run_2"]) {
      await store.awaitTurn(id, 1, { queue: "q", lane: "l", atOnce: 0 });
    }
    const queue = { queue: "q", atOnce: 5 };
    const taken = await losing(bench, () => store.takeTurn("worker_2", queue));
    assert.deepEqual(taken, { id: "run_1", epoch: 2 });
    assert.deepEqual(await store.takeTurn("worker_2", queue), { id: "run_2", epoch: 2 });
  });

  it("counts requests and tokens once", async () => {
    await using bench = await openBench();
    const spending = await bench.kept.spending();
    const limits = { day: { requests: 2 } };
    assert.equal(
      await losing(bench, () => spending.take("k", { requests: 1 }, limits, DAY)),
      undefined,
    );
    assert.equal(await spending.take("k", { requests: 1 }, limits, DAY), undefined, "the second");
    assert.equal((await spending.take("k", { requests: 1 }, limits, DAY))?.used, 2);
    bench.proxy.loseAnswerTo(COMMIT);
    const refused = await spending.take("k", { requests: 1 }, limits, DAY);
    assert.equal(refused?.used, 2, "also if the refusal was lost");
    bench.proxy.loseAnswerTo(COMMIT);
    await spending.settle("k", { tokens: 7 }, { takenMs: DAY, nowMs: DAY });
    assert.equal(bench.proxy.lost, 3);
    const { total } = await spending.read("k", DAY);
    assert.deepEqual([total.requests, total.tokens], [2, 7]);
  });

  it("removes the names of bookings that are not retried any more", async () => {
    await using bench = await openBench();
    const spending = await bench.kept.spending();
    for (let times = 0; times < 2; times++) await spending.take("k", { requests: 1 }, {}, DAY);
    const [{ id } = assert.fail()] = await bench.query("select id from offshoot.bookings limit 1");
    const old = "booked_at = booked_at - interval '61 minutes'";
    await bench.query(`update offshoot.bookings set ${old} where id = '${String(id)}'`);
    await spending.prune(DAY);
    assert.equal((await bench.query("select 1 from offshoot.bookings")).length, 1);
  });

  it("is in the audit log once", async () => {
    await using bench = await openBench();
    const audit = await bench.kept.audit();
    const about = { tenant: "a", key_id: null, action: "x", target: null, address: null };
    bench.proxy.loseAnswerTo("insert into offshoot.audit");
    audit.write({ at_ms: 1, status: 200, ...about });
    await audit.close();
    assert.equal(bench.proxy.lost, 1);
    assert.equal((await bench.query("select 1 from offshoot.audit")).length, 1);
  });

  it("reports that a thing was put, claimed and removed", async () => {
    await using bench = await openBench();
    const shelf = await bench.kept.shelf();
    assert.equal(await losing(bench, () => shelf.put({ ...thing, created_at_ms: 1 })), true);
    assert.equal(await shelf.put({ ...thing, created_at_ms: 2 }), false);
    const below = { ...thing, id: "2", parent: "1", created_at_ms: 1 };
    bench.proxy.loseAnswerTo(COMMIT);
    assert.equal(await shelf.putUnder(thing, [below]), 1);
    bench.proxy.loseAnswerTo(COMMIT);
    assert.equal(await shelf.putUnder(thing, [{ ...below, created_at_ms: 2 }]), 0);
    assert.equal(bench.proxy.lost, 3);
    bench.proxy.loseAnswerTo(COMMIT);
    assert.equal(await shelf.delete(thing), true);
    assert.equal(bench.proxy.lost, 4);
    assert.equal(await shelf.delete(thing), false);
    const claim = { ...thing, created_at_ms: 1, body: { by: "me" } };
    bench.proxy.loseAnswerTo(COMMIT);
    assert.equal(await shelf.claim({ claim, things: [], isOver: () => false }), undefined);
    assert.equal(bench.proxy.lost, 5);
  });

  it("writes a run down, its steps, its events and its ending once", async () => {
    await using bench = await openBench();
    const store = await bench.kept.runs();
    assert.equal(await losing(bench, () => store.createRun(newRun("run_1"))), true);
    bench.proxy.loseAnswerTo("update offshoot.runs set epoch");
    assert.equal(await store.claim("run_1", "worker_1", 0), 1);
    bench.proxy.loseAnswerTo("insert into offshoot.events");
    await store.append("run_1", 1, 0, notices(2));
    bench.proxy.loseAnswerTo("insert into offshoot.steps");
    const last = { firstSeq: 2, events: notices(1, 2) };
    await store.saveStep("run_1", 1, { key: "model:1", value: 1, last });
    bench.proxy.loseAnswerTo(COMMIT);
    const end = { ending: "completed", result: null, firstSeq: 3, at_ms: 1 } as const;
    const settles = { keyId: "k", used: { tokens: 5 }, nowMs: DAY };
    await store.finish("run_1", 1, { ...end, events: notices(1, 3), settles });
    assert.equal(bench.proxy.lost, 5);
    const run = await store.getRunStatus("run_1");
    assert.deepEqual([run?.epoch, run?.status, run?.next_seq], [1, "ended", 4]);
    assert.equal((await store.readEvents("run_1", -1, 100)).length, 4);
    const spending = await bench.kept.spending();
    assert.equal((await spending.read("k", DAY)).total.tokens, 5);
  });
});

describe(`a transaction of Postgres${held}`, SKIP, () => {
  it("that was undone leaves the numbers of its bytes to others, and is made with new ones", async () => {
    await using bench = await openBench();
    const db = await openKnown(bench.address);
    after(() => db.close());
    const shelf = createPostgresShelf(db);
    await shelf.put({ ...thing, created_at_ms: 1 });
    let tries = 0;
    const undoing: PostgresDatabase = {
      ...{ name: db.name, address: bench.address, full: undefined },
      ...{ get: db.get.bind(db), all: db.all.bind(db), write: db.write.bind(db) },
      close: () => db.close(),
      async transact(work) {
        if (tries++ > 0) return await db.transact(work);
        const undone = db.transact(async (tx, isRetry) => {
          await work(tx, isRetry);
          throw new Error("undone");
        });
        await assert.rejects(undone, /undone/);
        await shelf.writeContent(thing, streamOf(Buffer.from("other")));
        return await db.transact(work);
      },
    };
    await createPostgresShelf(undoing).writeContent(thing, streamOf(Buffer.from("mine")));
    const { value } = await shelf.readContent(thing).next();
    assert.equal(Buffer.from(value ?? []).toString(), "mine");
  });

  it("whose answer never came leaves the bytes that it committed", async () => {
    await using bench = await openBench();
    const db = await openKnown(bench.address);
    after(() => db.close());
    const shelf = createPostgresShelf(db);
    await shelf.put({ ...thing, created_at_ms: 1 });
    await shelf.writeContent(thing, streamOf(Buffer.from("old")));
    let commits = 0;
    const silent: PostgresDatabase = {
      ...{ name: db.name, address: bench.address, full: undefined },
      ...{ get: db.get.bind(db), all: db.all.bind(db), write: db.write.bind(db) },
      close: () => db.close(),
      async transact(work) {
        const done = await db.transact(work);
        if (++commits === 2) throw new Failure("store_busy", "The database does not answer.");
        return done;
      },
    };
    const writer = createPostgresShelf(silent);
    await assert.rejects(writer.writeContent(thing, streamOf(Buffer.from("new"))), /not answer/);
    const { value } = await shelf.readContent(thing).next();
    assert.equal(Buffer.from(value ?? []).toString(), "new");
  });

  it("that is interrupted between two statements is tried again, and the process lives", async () => {
    await using bench = await openBench();
    const db = await openKnown(bench.proxy.address);
    after(() => db.close());
    const tries: boolean[] = [];
    const cut = "select pg_terminate_backend(pid) from pg_stat_activity where pid = ";
    const done = await db.transact(async (tx, isRetry) => {
      tries.push(isRetry);
      const row = await tx.get("select pg_backend_pid() as pid");
      if (!isRetry) await bench.query(`${cut}${String(row?.["pid"])}`);
      return await tx.get("select 1 as one");
    });
    assert.deepEqual([done?.["one"], tries], [1, [false, true]]);
  });

  it("of a process that stands still lets others continue before its runs are taken over", async (t) => {
    await using bench = await openBench();
    const store = await openRun(bench);
    const still = await openKnown(bench.address);
    let wake = (): void => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let onLocked = (): void => {};
    const locked = new Promise<void>((resolve) => {
      onLocked = resolve;
    });
    const tries: boolean[] = [];
    const standing = still.transact(async (tx, isRetry) => {
      tries.push(isRetry);
      await tx.get("select 1 from offshoot.runs where id = 'run_1' for update");
      onLocked();
      if (!isRetry) await asleep;
      await tx.get("select 1");
    });
    await locked;
    const fromMs = performance.now();
    assert.equal(await store.claim("run_1", "worker_2", 1), 2);
    const waitedMs = performance.now() - fromMs;
    t.diagnostic(`others waited ${Math.round(waitedMs)} ms`);
    wake();
    await standing;
    assert.deepEqual(tries, [false, true], "it was ended, and tried again");
    await still.close();
  });

  it("of a process that stands still gets no lock that it waited for", async () => {
    await using bench = await openBench();
    await openRun(bench);
    let wake = (): void => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    // Nor does it ask again while it stands still.
    const clock: Clock = { now: () => systemClock.now(), sleep: () => asleep };
    const still = await openKnown(bench.address, clock);
    const other = await openKnown(bench.address);
    const order: string[] = [];
    const take = (db: typeof still, name: string, end?: Promise<void>): Promise<void> =>
      db.transact(async (tx) => {
        await tx.get("select 1 from offshoot.runs where id = 'run_1' for update");
        order.push(name);
        await end;
      });
    const waiting = `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    const standing = [take(still, "first", asleep)];
    await untilTrue(() => order.length === 1, "the first one has the lock");
    standing.push(take(still, "second", asleep));
    await untilTrue(async () => (await bench.query(waiting)).length === 1, "the second one waits");
    await take(other, "other");
    assert.deepEqual(order, ["first", "other"]);
    wake();
    await Promise.all(standing);
    await still.close();
    await other.close();
  });
});

it(`removes processes of yesterday that own nothing${held}`, SKIP, async () => {
  await using bench = await openBench();
  const store = await openRun(bench);
  const about = { host: "h", pid: 1, boot: "", pid_namespace: "", started: "" };
  for (const id of ["worker_1", "worker_2", "worker_3"]) {
    await store.beat({ ...about, id, beat_at_ms: 1, beat_ms: 1 });
  }
  const old = "beaten_at = beaten_at - interval '25 hours' where id <> 'worker_3'";
  await bench.query(`update offshoot.workers set ${old}`);
  const db = await openDatabase(bench.address);
  await forgetOldWorkers(db);
  await db.close();
  const left = await bench.query("select id from offshoot.workers order by id");
  assert.deepEqual(
    left.map(({ id }) => id),
    ["worker_1", "worker_3"],
  );
});
