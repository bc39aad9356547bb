/**
 * When a run of a silent owner is taken over, by the clock of the database: by the first look after the lease, and by
 * none before. A server looks every `TAKE_OVER_MS`, so that a run is taken over within its lease and a second.
 */

import assert from "node:assert/strict";
import { after, it } from "node:test";
import { createLocalEngine } from "../../../src/engine/local-engine.ts";
import { TAKE_OVER_MS } from "../../../src/server/running/serving.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import { LEASE_MS } from "../../../src/store/ownership.ts";
import { unless } from "../../needs.ts";
import { POSTGRES_LACK, startPostgres } from "../../store/postgres/postgres-server.ts";
import { completed, createGate } from "../engine-fixture.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

const possibly = unless(POSTGRES_LACK);

it(...possibly("the first look after the lease takes a run over, and none before"), async () => {
  const postgres = server ?? assert.fail();
  const address = await postgres.newAddress();
  const owners = await openKept(address);
  const others = await openKept(address);
  // Its process exists, as after a stop signal.
  const owner = createLocalEngine({ store: await owners.runs(), workerId: "owner" });
  const begun = createGate();
  const woken = createGate();
  owner.define("work", async () => {
    begun.open();
    return await woken.opened.then(() => completed("owner"));
  });
  await owner.submit("work", null, { id: "run_1", title: "a run" });
  await begun.opened;
  // From here on it does not beat.
  await owners.close();
  const other = createLocalEngine({ store: await others.runs(), workerId: "other" });
  other.define("work", async () => completed("other"));
  const silent = async (ms: number): Promise<void> => {
    const sql = `update offshoot.workers set beaten_at = clock_timestamp() - interval '${ms} ms'
      where id = 'owner'`;
    await postgres.query(address, sql);
  };
  await silent(0);
  assert.deepEqual(await other.start(), []);
  await silent(LEASE_MS / 2);
  assert.deepEqual(await other.start(), []);
  await silent(LEASE_MS);
  assert.deepEqual(await other.start(), ["run_1"]);
  assert.equal((await other.result("run_1")).result, "other");
  woken.open();
  await owner.stop();
  await other.stop();
  await others.close();
});

it("a server looks often enough for a takeover within the lease and a second", () => {
  assert.ok(TAKE_OVER_MS <= 800, "a look and a claim take some milliseconds each");
});
