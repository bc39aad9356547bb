/**
 * A database that cannot be used: every problem is reported in one line, with the right exit code, and
 * nothing is created, not even in part. And one that fails while servers use it: requests fail with a typed
 * error, `/readyz` reports it, and acknowledged data is there afterwards.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { after, describe, it, type TestContext } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { checkError, checkEvents } from "../conformance/check.ts";
import { type Lack, unless } from "../needs.ts";
import { until, untilTrue } from "../patience.ts";
import { startPostgresProxy } from "../store/postgres/postgres-proxy.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { createPlace, type Ended } from "./command.ts";
import { readEvents, type Served, serve, slowModel, startSlowUpstream } from "./served.ts";
import { toNoise, toShift } from "./store-faults/faulty-input.ts";
import { findMountLack, makeSmall } from "./store-faults/small-disk.ts";

const GIVEN_LACK: Lack = process.env["OFFSHOOT_TEST_POSTGRES"]
  ? "the Postgres is a given one"
  : undefined;
const LACK = POSTGRES_LACK ?? GIVEN_LACK;
const server = LACK === undefined ? await startPostgres({ durable: true }) : undefined;
after(() => server?.[Symbol.asyncDispose]());
const possibly = unless(LACK);
const small = unless(LACK ?? (await findMountLack()));

async function newAddress(): Promise<string> {
  return (await server?.newAddress()) ?? assert.fail();
}

async function query(address: string, sql: string): Promise<Record<string, unknown>[]> {
  return (await server?.query(address, sql)) ?? assert.fail();
}

async function run(command: string, address: string): Promise<Ended> {
  await using place = await createPlace();
  return await place.run(COMMANDS[command] ?? [command], { env: { OFFSHOOT_STORE: address } });
}

/** Commands that a user tries; each reports the same. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  serve: ["serve", "--port", "0", "-m", "embedded/offline"],
  worker: ["worker", "-m", "embedded/offline"],
  "runs list": ["runs", "list"],
  "keys create": ["keys", "create", "team"],
  run: ["run", "Hi", "-q", "-m", "embedded/offline"],
};

async function listen(t: TestContext, listening: Server): Promise<number> {
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  t.after(() => listening.close());
  return (listening.address() as AddressInfo).port;
}

function as(address: string, user: string, password?: string): string {
  const url = new URL(address);
  url.username = user;
  if (password !== undefined) url.password = password;
  return url.href;
}

async function makeTables(address: string): Promise<void> {
  const ended = await run("runs list", address);
  assert.equal(ended.code, 0, ended.stderr);
}

interface Fault {
  readonly says: RegExp;
  readonly code: number;
  /** Creates the fault; returns the address. */
  make(t: TestContext): Promise<string>;
}

/** Faults that are tried with more commands than `serve`; all report what a server reports. */
const EVERYWHERE: Readonly<Record<string, readonly string[]>> = {
  "does not answer": Object.keys(COMMANDS),
  "has older tables": Object.keys(COMMANDS),
  "lets the user write nothing": ["serve", "worker", "keys create", "run"],
};

const BUSY = 1;
const USAGE = 2;

const FAULTS: Readonly<Record<string, Fault>> = {
  "is a web server": {
    says: /does not answer|cannot be used/,
    code: BUSY,
    make: async (t) => {
      const port = await listen(t, createHttpServer());
      return `postgres://offshoot@127.0.0.1:${port}/none`;
    },
  },
  "does not answer": {
    says: /does not answer \(connect ECONNREFUSED/,
    code: BUSY,
    make: async () => "postgres://offshoot@127.0.0.1:1/none",
  },
  "takes connections and says nothing": {
    says: /does not answer \([^)]*timeout/,
    code: BUSY,
    make: async (t) => {
      const silent = createServer((socket) => void t.after(() => socket.destroy()));
      return `postgres://offshoot@127.0.0.1:${await listen(t, silent)}/none`;
    },
  },
  "has another password": {
    says: /cannot be used: password authentication failed for user "secret\w*"\. Check the user, the password/,
    code: USAGE,
    make: async () => as(await makeSecret(), "secret", "hunter2"),
  },
  "wants a password, and none is given": {
    says: /cannot be used: it asks for a password\. Check the user, the password/,
    code: USAGE,
    make: async () => as(await makeSecret(), "secret"),
  },
  "offers no encryption, which the address asks for": {
    says: /cannot be used: The server does not support SSL connections\. Check `sslmode`/,
    code: USAGE,
    make: async () => `${await newAddress()}&sslmode=require`,
  },
  "has no such database": {
    says: /cannot be used: database "no_such" does not exist/,
    code: USAGE,
    make: async () => (await newAddress()).replace(/offshoot_test_\w+/, "no_such"),
  },
  "has an encoding that lacks letters": {
    says: /cannot be used: its encoding is LATIN1, which lacks letters\. Make another one: `createdb/,
    code: USAGE,
    make: async () => {
      const address = await newAddress();
      await query(address, "drop database if exists latin");
      const rest = "encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0";
      await query(address, `create database latin ${rest}`);
      return address.replace(/offshoot_test_\w+/, "latin");
    },
  },
  "lets transactions see what was true when they began": {
    says: /cannot be used: its transactions are `repeatable read` by default\. Run `alter role offshoot in database offshoot_test_\w+ set default_transaction_isolation = 'read committed'`\.$/m,
    code: USAGE,
    make: async () => {
      const address = await newAddress();
      const name = new URL(address).pathname.slice(1);
      const isolation = "default_transaction_isolation = 'repeatable read'";
      await query(address, `alter database ${name} set ${isolation}`);
      return address;
    },
  },
  "lets the user make no tables": {
    says: /cannot be used: permission denied for database/,
    code: USAGE,
    make: async () => {
      const address = await newAddress();
      await makeRole(address, "reader");
      return as(address, "reader");
    },
  },
  "lets the user read no tables": {
    says: /cannot be used: permission denied for schema offshoot/,
    code: USAGE,
    make: async () => {
      const address = await newAddress();
      await makeTables(address);
      await makeRole(address, "stranger");
      return as(address, "stranger");
    },
  },
  "lets the user write nothing": {
    says: /cannot be used: permission denied for table \w+\. Check the user/,
    code: USAGE,
    make: async () => {
      const address = await newAddress();
      await makeTables(address);
      await makeRole(address, "looker");
      await query(address, "grant usage on schema offshoot to looker");
      await query(address, "grant select on all tables in schema offshoot to looker");
      return as(address, "looker");
    },
  },
  "has older tables": {
    says: /has tables of an older Offshoot \(version 1, this one needs \d+\)\. Run `offshoot store migrate`/,
    code: USAGE,
    make: async () => await withVersion("1"),
  },
  "has newer tables": {
    says: /was written by a newer Offshoot \(tables version 999, this one knows \d+\): update Offshoot/,
    code: USAGE,
    make: async () => await withVersion("999"),
  },
  "is a copy that is not finished": {
    says: /is a copy that is not finished\. Run `offshoot store copy` again/,
    code: USAGE,
    make: async () => {
      const address = await newAddress();
      await makeTables(address);
      await query(address, "create table offshoot.copying (x integer)");
      return address;
    },
  },
};

async function withVersion(version: string): Promise<string> {
  const address = await newAddress();
  await makeTables(address);
  await query(address, `update offshoot.version set version = ${version}`);
  return address;
}

/** Roles belong to the server, not to one database: several tests use the same one, and it cannot be dropped between them. */
async function makeRole(address: string, name: string, more = ""): Promise<void> {
  const create = `create role ${name} login ${more}; exception when duplicate_object then null`;
  await query(address, `do $$ begin ${create}; end $$`);
}

/** A user with a password on the server. */
async function makeSecret(): Promise<string> {
  const address = await newAddress();
  await makeRole(address, "secret", "password 'hunter1'");
  const [row] = await query(address, "show hba_file");
  const rules = "local all secret scram-sha-256' union all select 'local all all trust";
  await query(address, `copy (select '${rules}') to '${String(row?.["hba_file"])}'`);
  await query(address, "select pg_reload_conf()");
  await untilTrue(async () => {
    const sql = "select 1 from pg_hba_file_rules where user_name = '{secret}'";
    return (await query(address, sql)).length > 0;
  }, "the rule is read");
  return address;
}

describe(...possibly("a database that"), () => {
  for (const [name, { says, code, make }] of Object.entries(FAULTS)) {
    it(`${name} is reported in one line`, async (t) => {
      const address = await make(t);
      const commands = EVERYWHERE[name] ?? ["serve"];
      for (const command of commands) {
        const ended = await run(command, address);
        assert.equal(ended.code, code, `${command}: ${ended.stderr}`);
        assert.match(ended.stderr, /^offshoot: [^\n]+\n$/, command);
        assert.match(ended.stderr, says, command);
        assert.doesNotMatch(ended.stderr, /hunter/, "no password is shown");
        assert.equal(ended.stdout, "", command);
      }
    });
  }

  it("lets the user write nothing is named by doctor", async (t) => {
    const address = await (FAULTS["lets the user write nothing"] ?? assert.fail()).make(t);
    const ended = await run("doctor", address);
    assert.equal(ended.code, 1);
    assert.match(ended.stdout, /^BAD {2}data .*permission denied for table/m);
  });

  it("was refused is unchanged: nothing is created, nothing half migrated", async (t) => {
    const address = await (FAULTS["lets the user make no tables"] ?? assert.fail()).make(t);
    await run("serve", address);
    const schemas = "select 1 from pg_namespace where nspname = 'offshoot'";
    assert.deepEqual(await query(address, schemas), []);
    const older = await withVersion("1");
    const [before] = await query(older, "select count(*) from pg_tables");
    await run("serve", older);
    assert.deepEqual(await query(older, "select count(*) from pg_tables"), [before]);
    assert.deepEqual(await query(older, "select version from offshoot.version"), [{ version: 1 }]);
  });
});

describe(...possibly("a server whose database"), () => {
  const ready = async (served: Served): Promise<unknown> =>
    (await served.ask("GET", "/readyz")).body;

  it("is stopped is reported, the server stays up, and has everything it acknowledged when the database is back", async () => {
    await using own = await startPostgres({ durable: true });
    await using upstream = await startSlowUpstream();
    upstream.finish();
    const env = { OFFSHOOT_STORE: await own.newAddress() };
    await using served = await serve({ args: slowModel(upstream), env });
    const kept = await served.create({ input: "Hi" });
    await own.crash();
    const problem = await until(async () => {
      const { status, body } = await served.ask("GET", "/readyz");
      return status === 503 ? body : undefined;
    }, "it is not ready");
    assert.deepEqual(problem, { status: "not ready", reason: "store_busy" });
    assert.equal((await served.ask("GET", "/healthz")).status, 200);
    const waiting = served.ask("POST", "/v1/responses", { input: "Wait for it." });
    await own.start();
    assert.equal((await waiting).status, 200, "a short absence is waited for");
    await until(
      async () => ((await served.ask("GET", "/readyz")).status === 200 ? 1 : undefined),
      "ready",
    );
    assert.deepEqual((await served.ask("GET", `/v1/responses/${kept.id}`)).body, kept);
  });

  it("sends no notifications (a pooler) is polled instead", async () => {
    await using upstream = await startSlowUpstream();
    const address = await newAddress();
    await using pooler = await startPostgresProxy(address, { isDeaf: true });
    const env = { OFFSHOOT_STORE: pooler.address };
    await using first = await serve({ args: slowModel(upstream), env });
    await using second = await serve({ args: slowModel(upstream), env });
    const { id } = await first.create({ input: "Hi", background: true });
    await untilTrue(() => upstream.open === 1, "it is being answered");
    const followed = second.ask("GET", `/v1/responses/${id}?stream=true`);
    upstream.say(" two");
    upstream.finish();
    const events = readEvents(String((await followed).body));
    checkEvents(events);
    assert.equal(events.at(-1)?.type, "response.completed");
    assert.deepEqual(await ready(second), { status: "ready" });
  });

  it("has another time than the server takes no runs from living servers", async (t) => {
    await using upstream = await startSlowUpstream();
    const env = { OFFSHOOT_STORE: await newAddress() };
    const shift = (hours: number) => ({ ...env, NODE_OPTIONS: `--import=${toShift(hours)}` });
    const args = slowModel(upstream);
    await using ahead = await serve({ args, env: shift(5) });
    await using behind = await serve({ args, env: shift(-5) });
    const doomed = await serve({ args, env });
    const living = await ahead.create({ input: "Hi", background: true });
    await untilTrue(() => upstream.open === 1, "it is being answered");
    const lost = await doomed.create({ input: "Hi", background: true });
    await untilTrue(() => upstream.open === 2, "both are being answered");
    assert.ok(Math.abs(living.created_at - lost.created_at) < 600, "all go by the database's");
    const notice = /^the clock of this machine is 5 hours (ahead of|behind) that of the database/;
    for (const [served, side] of [
      [ahead, "ahead of"],
      [behind, "behind"],
    ] as const) {
      const { notice: told } = (await ready(served)) as { notice: string };
      assert.equal(notice.exec(told)?.[1], side);
      assert.match(served.command.stderr, /offshoot: the clock of this machine is 5 hours /);
    }
    await doomed[Symbol.asyncDispose]();
    await untilTrue(() => upstream.requests === 3, "the one that died is taken over");
    upstream.finish();
    for (const served of [ahead, behind]) {
      for (const id of [living.id, lost.id]) {
        const found = await until(async () => {
          const { body } = await served.ask("GET", `/v1/responses/${id}`);
          return (body as EmittedResponse).status === "completed" ? body : undefined;
        }, `${id} is completed`);
        assert.equal((found as EmittedResponse).output_text, "One");
      }
    }
    assert.equal(upstream.requests, 3, "the living one was left alone");
    t.diagnostic("clocks five hours fast and slow");
  });

  it("has another time than the server keeps what that server would have removed", async () => {
    await using upstream = await startSlowUpstream();
    upstream.finish();
    const env = { OFFSHOOT_STORE: await newAddress() };
    const args = slowModel(upstream);
    await using right = await serve({ args, env });
    const kept = await right.create({ input: "Hi" });
    const late = await right.create({ input: "Hi" });
    const sql = `update offshoot.things set expires_at_ms = 1 where id = '${late.id}'`;
    await query(env.OFFSHOOT_STORE, sql);
    const shifted = { ...env, NODE_OPTIONS: `--import=${toShift(24 * 400)}` };
    await using ahead = await serve({ args, env: shifted });
    const status = async (id: string): Promise<number> =>
      (await right.ask("GET", `/v1/responses/${id}`)).status;
    await untilTrue(async () => (await status(late.id)) === 404, "what has expired is removed");
    assert.equal(await status(kept.id), 200);
    const made = await ahead.create({ input: "Hi" });
    assert.ok(Math.abs(made.created_at - kept.created_at) < 600);
  });

  it(...small("is full says so, loses nothing, and continues when there is space"), async (t) => {
    const { address, grow } = await makeSmall(server ?? assert.fail(), t);
    await using upstream = await startSlowUpstream();
    upstream.finish();
    const env = { OFFSHOOT_STORE: address };
    await using served = await serve({ args: slowModel(upstream), env });
    const kept = await served.create({ input: "Hi" });
    const large = { input: `Hi ${toNoise(2_000_000)}` };
    const full = await until(async () => {
      const answer = await served.ask("POST", "/v1/responses", large);
      return answer.status === 200 ? undefined : answer;
    }, "the disk is full");
    checkError(full, { status: 507, code: "store_full" });
    assert.deepEqual(await ready(served), { status: "not ready", reason: "store_full" });
    assert.equal((await served.ask("GET", "/healthz")).status, 200);
    assert.deepEqual((await served.ask("GET", `/v1/responses/${kept.id}`)).body, kept);
    grow();
    const stored = await until(async () => {
      const answer = await served.ask("POST", "/v1/responses", large);
      return answer.status === 200 ? answer : undefined;
    }, "there is room");
    assert.equal((stored.body as EmittedResponse).status, "completed");
    await untilTrue(async () => (await served.ask("GET", "/readyz")).status === 200, "ready");
  });
});
