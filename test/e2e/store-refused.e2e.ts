/**
 * A database that refuses its user while a server runs (the operator has changed a right), or that stops answering
 * without closing its connections. Clients learn that the server has a fault, and nothing of the database. And one that
 * has lost a part of the record.
 */

import assert from "node:assert/strict";
import { after, it } from "node:test";
import { checkError } from "../conformance/check.ts";
import { unless } from "../needs.ts";
import { until, untilTrue } from "../patience.ts";
import { startPostgresProxy } from "../store/postgres/postgres-proxy.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { createPlace } from "./command.ts";
import { serve, slowModel, startSlowUpstream } from "./served.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());
const possibly = unless(POSTGRES_LACK);

it(
  ...possibly(
    "a database that refuses its user is a fault of the server, which continues when the user is back",
  ),
  async () => {
    await using upstream = await startSlowUpstream();
    upstream.finish();
    const postgres = server ?? assert.fail();
    const address = await postgres.newAddress();
    const database = new URL(address).pathname.slice(1);
    await postgres.query(address, `create role ${database} login`);
    await postgres.query(address, `grant all on database ${database} to ${database}`);
    const asUser = new URL(address);
    asUser.username = database;
    const env = { OFFSHOOT_STORE: asUser.href };
    await using served = await serve({ args: slowModel(upstream), env });
    const kept = await served.create({ input: "Hi" });
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${database}'`;
    const faults = [
      { sql: [`alter role ${database} nologin`, cut], back: `alter role ${database} login` },
      {
        sql: ["alter table offshoot.runs owner to current_user"],
        back: `alter table offshoot.runs owner to ${database}`,
      },
    ];
    for (const { sql, back } of faults) {
      for (const one of sql) await postgres.query(address, one);
      const refused = await served.ask("POST", "/v1/responses", { input: "Hi" });
      checkError(refused, { status: 503, code: "store_refused" });
      assert.doesNotMatch(JSON.stringify(refused.body), /postgres|role|permission/);
      const seen = await until(async () => {
        const { status, body } = await served.ask("GET", "/readyz");
        return status === 503 ? body : undefined;
      }, "it is not ready");
      assert.deepEqual(seen, { status: "not ready", reason: "store_refused" });
      assert.equal((await served.ask("GET", "/healthz")).status, 200);
      await postgres.query(address, back);
      await untilTrue(async () => (await served.ask("GET", "/readyz")).status === 200, "ready");
      assert.deepEqual((await served.ask("GET", `/v1/responses/${kept.id}`)).body, kept);
      assert.equal((await served.create({ input: "Hi" })).status, "completed");
    }
  },
);

/** Less than a statement may take, and twenty times as long as the answer takes. */
const SOON_MS = 25_000;

it(
  ...possibly("a database that keeps its connections and says nothing makes a server not ready"),
  async () => {
    await using upstream = await startSlowUpstream();
    upstream.finish();
    await using network = await startPostgresProxy((await server?.newAddress()) ?? "");
    const env = { OFFSHOOT_STORE: network.address };
    await using served = await serve({ args: slowModel(upstream), env });
    const kept = await served.create({ input: "Hi" });
    network.silence();
    const asked = served.ask("GET", "/readyz", undefined, AbortSignal.timeout(SOON_MS));
    assert.equal((await served.ask("GET", "/healthz")).status, 200);
    const { status, body } = await asked;
    assert.deepEqual([status, body], [503, { status: "not ready", reason: "store_busy" }]);
    const passing = await served.ask("POST", "/v1/responses", { input: "Hi", store: false });
    assert.equal(passing.status, 200, "what is not stored needs no database");
    network.speak();
    await untilTrue(async () => (await served.ask("GET", "/readyz")).status === 200, "ready");
    assert.deepEqual((await served.ask("GET", `/v1/responses/${kept.id}`)).body, kept);
  },
);

it(...possibly("a database that lacks a part of a log is named by `store check`"), async () => {
  const postgres = server ?? assert.fail();
  const address = await postgres.newAddress();
  await using place = await createPlace();
  const env = { OFFSHOOT_STORE: address };
  const ran = await place.run(["run", "Hi", "-q", "-m", "embedded/offline"], { env });
  assert.equal(ran.code, 0, ran.stderr);
  await postgres.query(address, "delete from offshoot.events where first_seq = 0");
  const ended = await place.run(["store", "check"], { env });
  assert.equal(ended.code, 1, ended.stderr);
  const [first, problem, advice] = ended.stdout.split("\n");
  assert.match(first ?? "", /^postgres:.* is damaged:$/);
  assert.match(problem ?? "", /^ {2}The log of run run_\w+ has \d+ events, not \d+\.$/);
  assert.equal(advice, "Restore a backup, or use another database.");
});
