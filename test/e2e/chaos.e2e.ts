/**
 * Three replicas and two workers on one Postgres, behind a round-robin proxy. At random, one is killed, one
 * is stopped and wakes up late, Postgres is stopped, and connections are cut. Clients make requests
 * throughout.
 *
 * Every response that a client knows about ends once; no stream has a gap, from any replica, from any event
 * on; finished work is not repeated; a machine that wakes up late writes nothing to the runs that it has lost; money is
 * exact; nothing is left over.
 *
 * A few rounds by default, which have each kind of fault once; `OFFSHOOT_TEST_ROUNDS=100` is the whole test, and holds
 * takeovers to their time. `OFFSHOOT_TEST_SEED` repeats what chance did to the cluster, and not how fast the machine was,
 * so a fault that it finds may not come back.
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
import { checkWriters } from "./chaos/writers.ts";

/** So many kill, stop and cut, and do so to the database. */
const SHORT_ROUNDS = 4;
const ASKED_ROUNDS = process.env["OFFSHOOT_TEST_ROUNDS"];
const ROUNDS = Number(ASKED_ROUNDS ?? SHORT_ROUNDS);
const SEED = Number(process.env["OFFSHOOT_TEST_SEED"] ?? Date.now() % 1_000_000);
/** The longest time that clients work between two faults. */
const BETWEEN_MS = 2500;
/** So many that each kind of fault certainly came, and has met runs. */
const MANY_ROUNDS = 50;
/** What a takeover may take in addition to the lease. */
const LATE_MS = 1000;

// A test cannot stop the database of a server that it did not start.
const GIVEN_LACK = process.env["OFFSHOOT_TEST_POSTGRES"]
  ? "the Postgres is a given one"
  : undefined;
const LACK = LINUX_LACK ?? POSTGRES_LACK ?? GIVEN_LACK;
const server = LACK === undefined ? await startPostgres({ durable: true }) : undefined;
after(() => server?.[Symbol.asyncDispose]());

const possibly = unless(LACK);
const name = `a cluster keeps what it promised over ${ROUNDS} faults (OFFSHOOT_TEST_SEED=${SEED})`;
it(...possibly(name), async (t) => {
  const chance = createChance(SEED);
  // A random generator of its own, so that the faults of a seed are the same however fast the clients are.
  const other = createChance(SEED + 1);
  // Printed at once, so that the reader of a long run knows its progress.
  const tell = (line: string): void =>
    void process.stderr.write(`chaos: ${new Date().toISOString().slice(11)} ${line}\n`);
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
  const rounds = createFaults(cluster, { chance, takeovers });
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
  tellTakeovers(takeovers.seen, tell);
  const { steps, again } = checkCounts(count);
  const tokens = await checkMoney(cluster);
  await checkRecord(cluster);
  const writes = await checkWriters(cluster);
  for (const told of load.told) await checkTold(cluster, told, other);
  await checkConversations(cluster, load);
  tell(`${load.done} jobs, ${load.told.length} responses told, ${tokens} tokens booked`);
  tell(`${writes} writes, none by a machine that had lost its run`);
  tell(`${steps} steps asked for, ${again} again because they were cut`);
  // A machine that runs other tests meanwhile may be late.
  if (ASKED_ROUNDS !== undefined) checkTakeovers(takeovers.seen);
  await checkForgottenHolds(cluster);
  await removeAll(cluster);
  for (const machine of cluster.machines) await machine.stop();
});

/** Called when a step is requested a second time, before that is answered: where the journal has it. */
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

/** What a takeover took by the clock of the database, and without the time in which the database or the machine stood still. */
function tellTakeovers(seen: readonly Takeover[], tell: (line: string) => void): void {
  const late = seen.filter(({ ms }) => ms > LEASE_MS);
  const spread = (of: (one: Takeover) => number): string => {
    const sorted = seen.map(of).sort((a, b) => a - b);
    return `median ${sorted[sorted.length >> 1] ?? 0} ms, most ${sorted.at(-1) ?? 0} ms`;
  };
  const fromFrozen = seen.filter(({ isFromFrozen }) => isFromFrozen).length;
  tell(`${seen.length} takeovers, ${late.length} of them after a lease: ${spread(({ ms }) => ms)}`);
  tell(`${fromFrozen} of them from a machine that stood still and woke up later`);
  tell(`without standstills: ${spread(toNetMs)}`);
  for (const one of late) tell(`after a lease: ${JSON.stringify(one)}`);
}

function toNetMs({ ms, stillMs }: Takeover): number {
  return ms - stillMs;
}

function checkTakeovers(seen: readonly Takeover[]): void {
  const late = seen.filter((one) => toNetMs(one) > LEASE_MS + LATE_MS);
  assert.deepEqual(late, [], "runs were taken over too late");
  if (ROUNDS < MANY_ROUNDS) return;
  assert.ok(seen.length > 0, "a run was taken over");
  const frozen = seen.some(({ isFromFrozen }) => isFromFrozen);
  assert.ok(frozen, "a run was taken over from a machine that stood still");
}
