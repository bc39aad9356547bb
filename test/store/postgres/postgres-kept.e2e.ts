/** Postgres as a record: every contract that SQLite and memory keep, on a real server. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Clock } from "../../../src/base/clock.ts";
import type { KeptRecord } from "../../../src/store/kept.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import {
  openDatabase,
  type PostgresDatabase,
} from "../../../src/store/postgres/postgres-database.ts";
import { createPostgresPlaces } from "../../../src/store/postgres/postgres-places.ts";
import { until, untilTrue } from "../../patience.ts";
import { describeAudit } from "../audit-contract.ts";
import { describeBatches } from "../batches-contract.ts";
import { describeChains } from "../chain-contract.ts";
import { describeChunks } from "../chunks-contract.ts";
import { describeExpiry } from "../expiry-contract.ts";
import { describeFailedCalls } from "../failed-calls-contract.ts";
import { describeNeeds } from "../needs-contract.ts";
import { describePlaces } from "../place-count-contract.ts";
import { describeRecordState } from "../record-state-contract.ts";
import { describeRecordedRuns } from "../recorded-run-contract.ts";
import { describeRunIndex } from "../run-index-contract.ts";
import { describeShelf } from "../shelf-contract.ts";
import {
  describeBookedRuns,
  describeSharedSpending,
  describeSpending,
} from "../spending-contract.ts";
import { describeStorage } from "../storage-contract.ts";
import { describeStore, newRun, notices } from "../store-contract.ts";
import { describeStoreModel } from "../store-model.ts";
import { describeTurns } from "../turns-contract.ts";
import { describeUnder } from "../under-contract.ts";
import { describeVendorLimits } from "../vendor-limits-contract.ts";
import { POSTGRES_LACK, type PostgresServer, startPostgres } from "./postgres-server.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
const opened: KeptRecord[] = [];
after(async () => {
  for (const kept of opened) await kept.close();
  await server?.[Symbol.asyncDispose]();
});

async function open(address?: string): Promise<KeptRecord> {
  const kept = await openKept(address ?? (await server?.newAddress()));
  opened.push(kept);
  return kept;
}

/** A process's database; nothing reaches it once the process is dead. */
async function openMortal(address: string): Promise<PostgresDatabase & { die(): void }> {
  const db = await openDatabase(address);
  after(() => db.close());
  let isDead = false;
  return {
    name: db.name,
    address,
    all: db.all.bind(db),
    transact: db.transact.bind(db),
    get: (...asked) => (isDead ? new Promise(() => {}) : db.get(...asked)),
    write: (work) => (isDead ? new Promise(() => {}) : db.write(work)),
    full: undefined,
    close: () => db.close(),
    die() {
      isDead = true;
    },
  };
}

if (server === undefined) {
  it(`Postgres (skipped: ${POSTGRES_LACK})`, { skip: true }, () => {});
} else {
  describeStore("Postgres store", async () => (await open()).runs());
  describeStoreModel("Postgres store", async () => (await open()).runs());
  describeRunIndex("Postgres", () => open());
  describeRecordedRuns("Postgres", () => open());
  describeNeeds("Postgres", () => open());
  describeRecordState("Postgres", () => open());
  describeFailedCalls("Postgres", () => open());
  describeTurns("Postgres store", async () => (await open()).runs());
  describeShelf("Postgres shelf", async () => (await open()).shelf());
  describeExpiry("Postgres shelf", async () => (await open()).shelf());
  describeUnder("Postgres shelf", async () => (await open()).shelf());
  describeChains("Postgres shelf", async () => (await open()).shelf());
  describeStorage("Postgres shelf", async () => (await open()).shelf());
  describeBatches("Postgres shelf", async () => {
    const address = await server.newAddress();
    return [await (await open(address)).shelf(), await (await open(address)).shelf()];
  });
  describeChunks("Postgres chunks", async () => (await open()).chunks());
  describeSpending("Postgres spending", async () => (await open()).spending());
  describeSharedSpending("Postgres spending", async () => {
    const address = await server.newAddress();
    return [await (await open(address)).spending(), await (await open(address)).spending()];
  });
  describeBookedRuns("Postgres spending", async () => {
    const kept = await open();
    return { store: await kept.runs(), spending: await kept.spending() };
  });
  describeAudit("Postgres audit", async () => (await open()).audit());
  describePlaces("Postgres", async () => {
    const address = await server.newAddress();
    const second = (await (await open(address)).places()) ?? assert.fail("it counts for one alone");
    const db = await openMortal(address);
    const killFirst = async (): Promise<void> => {
      db.die();
      const silence = "beaten_at = beaten_at - interval '11 seconds'";
      await server.query(address, `update offshoot.places set ${silence}`);
      await untilTrue(async () => {
        const sql = "select 1 from offshoot.places where beaten_at > now() - interval '5 seconds'";
        return (await server.query(address, sql)).length > 0;
      }, "the second says that it lives");
    };
    return { first: createPostgresPlaces(db), second, killFirst };
  });
  describe("Postgres: the places of a process that stood still", () => {
    it("are taken again if others have left some, and the process learns which it lost", async () => {
      const address = await server.newAddress();
      const first =
        (await (await open(address)).places()) ?? assert.fail("it counts for one alone");
      const second =
        (await (await open(address)).places()) ?? assert.fail("it counts for one alone");
      let lost = 0;
      for (let place = 0; place < 2; place++) assert.ok(await first.take("k", 2, () => lost++));
      // As if its beats had not come; its next beat may be faster than the second process.
      const silence = "beaten_at = beaten_at - interval '11 seconds'";
      await until(async () => {
        await server.query(address, `update offshoot.places set ${silence}`);
        return await second.take("k", 2);
      }, "a place that has lapsed");
      await untilTrue(() => lost > 0, "the first is told");
      assert.equal(lost, 1);
      assert.equal(await second.take("k", 2), undefined, "the first has the other one again");
    });

    it("exist again after a crash of the database, whichever process was faster", async () => {
      const address = await server.newAddress();
      const places =
        (await (await open(address)).places()) ?? assert.fail("it counts for one alone");
      let lost = 0;
      assert.ok(await places.take("k", 1, () => lost++));
      await server.query(address, "delete from offshoot.places");
      const count = "select 1 from offshoot.places";
      await untilTrue(async () => (await server.query(address, count)).length > 0, "its place");
      assert.equal(lost, 0);
    });
  });
  describeVendorLimits("Postgres", async () => {
    const address = await server.newAddress();
    const limits = (await (await open(address)).limits()) ?? assert.fail("it shares nothing");
    const age = async (ms: number): Promise<void> => {
      const earlier = (column: string): string =>
        `${column} = ${column} - interval '${ms} milliseconds'`;
      const times = `${earlier("told_at")}, ${earlier("paused_until")}`;
      await server.query(address, `update offshoot.vendor_limits set ${times}`);
      await server.query(address, `update offshoot.vendor_demands set ${earlier("beaten_at")}`);
    };
    return { limits, age };
  });

  describe("Postgres: a thing that is being deleted", () => {
    it("gets nothing more, also if its deletion has begun and takes its time", async () => {
      const address = await server.newAddress();
      const shelf = await (await open(address)).shelf();
      const about = { tenant: "t", body: 1, created_at_ms: 1, expires_at_ms: null };
      const conversation = { ...about, kind: "conversation", id: "a", parent: null };
      const item = (id: string) => ({ ...about, kind: "item", id, parent: "a" });
      await shelf.putAll([conversation, item("1")]);
      const db = await openDatabase(address);
      after(() => db.close());
      const waiting = `select 1 from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock'`;
      const waits = async (count: number): Promise<boolean> =>
        (await server.query(address, waiting)).length >= count;
      let isPut = false;
      let deleting: Promise<boolean> = Promise.resolve(false);
      let putting: Promise<number | undefined> = Promise.resolve(0);
      await db.transact(async (tx) => {
        await tx.get("select 1 from offshoot.things where id = '1' for update");
        deleting = shelf.delete(conversation);
        await untilTrue(() => waits(1), "the deletion waits for the item");
        putting = shelf.putUnder(conversation, [item("2")]);
        void putting.finally(() => {
          isPut = true;
        });
        await untilTrue(async () => isPut || (await waits(2)), "the other is at work");
      });
      assert.equal(await deleting, true);
      assert.equal(await putting, undefined);
      assert.equal(await shelf.get(item("2")), undefined);
    });
  });

  describeDatabase(server);
}

function describeDatabase(postgres: PostgresServer): void {
  describe("Postgres: the database", () => {
    it("gets its tables once, however many processes open an empty one", async () => {
      const address = await postgres.newAddress();
      const all = await Promise.all(Array.from({ length: 5 }, () => open(address)));
      await Promise.all(all.map((kept) => kept.runs()));
      const [row] = await postgres.query(address, "select count(*) as n from offshoot.version");
      assert.equal(Number(row?.["n"]), 1);
      const problems = (await all[0]?.maintenance.check())?.problems;
      assert.deepEqual(problems, []);
    });

    it("with tables of another version is not changed, and the error says what to do", async () => {
      const address = await postgres.newAddress();
      const first = await open(address);
      await first.runs();
      const { to } = await first.maintenance.migrate();
      const rows: [number, RegExp][] = [
        [to + 1, /written by a newer Offshoot .*: update Offshoot\./],
        [to - 1, /tables of an older Offshoot .* Run `offshoot store migrate`\./],
      ];
      for (const [version, message] of rows) {
        await postgres.query(address, `update offshoot.version set version = ${version}`);
        const kept = await open(address);
        await assert.rejects(kept.runs(), { code: "invalid_request", message });
      }
    });

    it("that refuses a user, or has another name, is reported in one line", async () => {
      const address = new URL(await postgres.newAddress());
      const missing = new URL(address);
      missing.pathname = "/no_such_database";
      const stranger = new URL(address);
      stranger.username = "no_such_user";
      for (const url of [missing, stranger]) {
        const kept = await open(url.href);
        await assert.rejects(kept.shelf(), {
          code: "store_refused",
          message: /^The store `[^\n]*` cannot be used: [^\n]*\. Check the user, the password/,
        });
      }
      await postgres.query(address.href, "create role reader login");
      const reader = new URL(address);
      reader.username = "reader";
      const kept = await open(reader.href);
      await assert.rejects(kept.shelf(), { code: "store_refused", message: /permission denied/ });
    });

    it("has transactions that see what was committed while they waited, whatever its default", async () => {
      const url = new URL(await postgres.newAddress());
      const isolation = "default_transaction_isolation=serializable";
      url.searchParams.set("options", `-c ${isolation}`);
      const db = await openDatabase(url.href);
      after(() => db.close());
      const sql = "select current_setting('transaction_isolation') as level";
      assert.deepEqual(await db.get(sql), { level: "serializable" });
      const inside = await db.transact(async (tx) => await tx.get(sql));
      assert.deepEqual(inside, { level: "read committed" });
    });

    it("may take as long for a statement as its user allows", async () => {
      const address = await postgres.newAddress();
      for (const statementMs of [50, 60_000]) {
        const db = await openDatabase(address, { statementMs });
        after(() => db.close());
        const slow = db.get("select 1 as done from pg_sleep(0.5)");
        if (statementMs < 500) await assert.rejects(slow, { code: "store_busy" });
        else assert.deepEqual(await slow, { done: 1 });
      }
    });

    it("is awaited when its connections are lost, and nothing is written twice", async () => {
      const address = await postgres.newAddress();
      const store = await (await open(address)).runs();
      await store.createRun(newRun("run_1"));
      await store.claim("run_1", "worker_1");
      const cut = `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'offshoot' and datname = current_database()`;
      let events = 0;
      for (let round = 0; round < 20; round++) {
        const writing = store.append("run_1", 1, events, notices(3, events));
        await postgres.query(address, cut);
        await writing;
        events += 3;
      }
      assert.equal((await store.getRun("run_1"))?.next_seq, events);
      const log = await store.readEvents("run_1", -1, 1000);
      assert.deepEqual(
        log.map(({ seq }) => seq),
        Array.from({ length: events }, (_, seq) => seq),
      );
    });

    it("reports to processes what others write", async () => {
      const address = await postgres.newAddress();
      const writer = await (await open(address)).runs();
      const reader = await (await open(address)).runs();
      const heard: (string | undefined)[] = [];
      const stop = reader.news?.listen((id) => heard.push(id)) ?? assert.fail();
      await untilTrue(() => reader.news?.isLive === true, "it listens");
      await writer.createRun(newRun("run_1"));
      await writer.claim("run_1", "worker_1");
      await writer.append("run_1", 1, 0, notices(1));
      await untilTrue(() => heard.includes("run_1"), "it hears of the run");
      stop();
    });

    const isOwn = !process.env["OFFSHOOT_TEST_POSTGRES"];
    it("that is stopped admits no request without counting it", { skip: !isOwn }, async () => {
      await using own = await startPostgres({ durable: true });
      const address = await own.newAddress();
      await (await open(address)).places();
      // Its waits are over at once.
      let nowMs = 0;
      const clock: Clock = {
        now: () => nowMs,
        async sleep(ms) {
          nowMs += ms;
        },
      };
      const db = await openDatabase(address, { clock });
      const places = createPostgresPlaces(db, clock);
      const leave = await places.take("k", 2);
      await own.crash();
      await assert.rejects(places.take("k", 2), { code: "store_busy", message: /does not answer/ });
      await own.start();
      assert.ok(await places.take("k", 2));
      leave?.();
      await places.close();
      await db.close();
    });
  });
}
