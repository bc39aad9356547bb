/**
 * Three replicas and two workers on one Postgres, behind a round-robin proxy, while at random one is killed, one stands
 * still and wakes up late, Postgres is stopped at once, and connections are cut. Clients ask throughout.
 *
 * Every response that a client was told of ends once; no stream has a gap, from any replica, from any event on; nothing
 * that was finished is done again; money is exact; nothing is left over.
 *
 * Only where it is asked for: `OFFSHOOT_TEST_ROUNDS=100`. `OFFSHOOT_TEST_SEED` repeats what chance did to the cluster, and
 * not how fast the machine was, so a fault that it finds may not come back.
 */

import assert from "node:assert/strict";
import { after, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { LEASE_MS } from "../../src/store/ownership.ts";
import { createChance } from "../delegation/random-tree.ts";
import { LINUX_LACK, unless } from "../needs.ts";
import { inTime, untilTrue } from "../patience.ts";
import { startSmallServer } from "../runtime/small-mcp-server.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { createChaosClient } from "./chaos/chaos-client.ts";
import { startLoad } from "./chaos/chaos-load.ts";
import { type Asked, createCount, MARK_TOOL, MARKS, startChaosModel } from "./chaos/chaos-model.ts";
import {
  checkConversations,
  checkCounts,
  checkForgottenHolds,
  checkMoney,
  checkRecord,
  checkTold,
  removeAll,
} from "./chaos/checks.ts";
import { type Cluster, startCluster } from "./chaos/cluster.ts";
import { createFaults } from "./chaos/faults.ts";
import { type Takeover, watchTakeovers } from "./chaos/takeovers.ts";

const ROUNDS = Number(process.env["OFFSHOOT_TEST_ROUNDS"] ?? 0);
const SEED = Number(process.env["OFFSHOOT_TEST_SEED"] ?? Date.now() % 1_000_000);
/** How long clients work between two faults, at most. */
const BETWEEN_MS = 2500;
/** What a takeover may take beside the lease. */
const LATE_MS = 1000;

// Of a server that the test did not start it cannot stop the database.
const GIVEN_LACK = process.env["OFFSHOOT_TEST_POSTGRES"]
  ? "the Postgres is a given one"
  : undefined;
const ROUNDS_LACK = ROUNDS > 0 ? undefined : "`OFFSHOOT_TEST_ROUNDS` names no number of faults";
const LACK = LINUX_LACK ?? POSTGRES_LACK ?? GIVEN_LACK ?? ROUNDS_LACK;
const server = LACK === undefined ? await startPostgres({ durable: true }) : undefined;
after(() => server?.[Symbol.asyncDispose]());

const possibly = unless(LACK);
it(...possibly(`a cluster keeps what it promised over ${ROUNDS} faults`), async (t) => {
  const chance = createChance(SEED);
  // Chance of its own, so that the faults of a seed are the same however fast the clients are.
  const other = createChance(SEED + 1);
  // Told at once: whoever waits for a long run, or ends it, knows where it is.
  const tell = (line: string): void =>
    void process.stderr.write(`chaos: ${Math.round(performance.now())} ${line}\n`);
  tell(`OFFSHOOT_TEST_SEED=${SEED}`);
  const faults: string[] = [];
  let cluster: Cluster | undefined;
  const count = createCount((asked) => findFinished(cluster ?? assert.fail(), asked));
  const upstream = await startChaosModel(other, count);
  t.after(() => upstream.close());
  const mcp = await startSmallServer(t, {
    tools: [MARK_TOOL],
    onCall: async (text) => {
      const [label = "", word = ""] = text.split(" ");
      await count.add({ label, step: MARKS[word] ?? assert.fail(text) });
    },
  });
  cluster = await startCluster(t, server ?? assert.fail(), { upstream, faults });
  const client = createChaosClient(cluster.url, cluster.token, faults);
  const takeovers = watchTakeovers(cluster);
  const load = startLoad({ client, chance: other, mcpUrl: mcp.url, faults });
  const rounds = createFaults(cluster, chance);
  for (let round = 1; round <= ROUNDS && faults.length === 0; round++) {
    await setTimeout(chance() * BETWEEN_MS);
    tell(`round ${round}: ${await rounds.next()}`);
  }
  await inTime(rounds.end(), "all machines are up");
  await inTime(load.end(), "every client has heard the end");
  const running = "select 1 from offshoot.runs where status = 'running' limit 1";
  const all = cluster;
  await untilTrue(async () => (await all.query(running)).length === 0, "every run has ended");
  await takeovers.end();
  assert.deepEqual(faults, []);
  const { steps, again } = checkCounts(count);
  const tokens = await checkMoney(cluster);
  await checkRecord(cluster);
  for (const told of load.told) await checkTold(cluster, told, other);
  await checkConversations(cluster, load);
  tell(`${load.done} jobs, ${load.told.length} responses told, ${tokens} tokens booked`);
  tell(`${steps} steps asked for, ${again} again because they were cut`);
  checkTakeovers(takeovers.seen, tell);
  await checkForgottenHolds(cluster);
  await removeAll(cluster);
  for (const machine of cluster.machines) await machine.stop();
});

/** Asked when somebody asks for a step a second time, before that is answered: where the journal has it. */
async function findFinished(cluster: Cluster, { label, step }: Asked): Promise<string | undefined> {
  const [root, child] = label.split("/");
  const which =
    child === undefined
      ? `r.parent_id is null and r.title = '${label}'`
      : `r.parent_id is not null and r.input like '%Say ${root}/${child}"%'`;
  const found = await cluster.query(`select r.id, r.epoch, r.status, r.owner, s.epoch as done_by
    from offshoot.steps as s join offshoot.runs as r on r.id = s.run_id
    where s.key = '${step}' and ${which}`);
  return found.length > 0 ? JSON.stringify(found) : undefined;
}

/** Measured by the clock of the database, without the time in which nobody got on. */
function checkTakeovers(seen: readonly Takeover[], tell: (line: string) => void): void {
  const late = seen.map((one) => ({ ...one, netMs: one.ms - one.stillMs }));
  const [slowest] = late.sort((a, b) => b.netMs - a.netMs);
  const byLease = late.filter(({ netMs }) => netMs > LEASE_MS).length;
  tell(
    `${seen.length} takeovers, ${byLease} after a lease; the slowest: ${JSON.stringify(slowest)}`,
  );
  assert.ok((slowest?.netMs ?? 0) <= LEASE_MS + LATE_MS, JSON.stringify(slowest));
}
