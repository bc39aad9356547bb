/** Three replicas and two workers on one Postgres, with a round-robin proxy in front of the replicas. */

import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Upstream } from "../../../src/testing/index.ts";
import { startRoundRobin } from "../../round-robin.ts";
import type { PostgresServer } from "../../store/postgres/postgres-server.ts";
import { createPlace, type Place } from "../command.ts";
import { KEY_VARIABLE } from "./chaos-model.ts";
import { type Machine, startMachine } from "./machines.ts";
import { noteWriters, withName } from "./writers.ts";

export interface Cluster {
  readonly place: Place;
  readonly env: Readonly<Record<string, string>>;
  readonly postgres: PostgresServer;
  readonly address: string;
  readonly replicas: readonly Machine[];
  readonly workers: readonly Machine[];
  readonly machines: readonly Machine[];
  /** The URL of the proxy. */
  readonly url: string;
  /** The token of a key that pays. */
  readonly token: string;
  /** Queries the database, and retries while it is unavailable. */
  query(sql: string): Promise<Record<string, unknown>[]>;
}

/** Subagents run in any process with free capacity; tools of clients may be on the loopback. */
const SETTINGS = `
agent: {subagent: {executor: anywhere}}
server: {max_subagents: 10, max_background: 12}
web_private_hosts: ["127.0.0.1"]
`;
/** More than all of them use: it is reserved and charged, and never refused. */
const TOKENS = "100000000";

export async function startCluster(
  t: TestContext,
  postgres: PostgresServer,
  { upstream, faults }: { readonly upstream: Upstream; readonly faults: string[] },
): Promise<Cluster> {
  const address = await postgres.newAddress();
  const place = await createPlace({ "config.yaml": SETTINGS });
  const config = join(place.cwd, "config.yaml");
  const env = { OFFSHOOT_STORE: address, OFFSHOOT_CONFIG: config };
  const made = await place.run(["keys", "create", "team", "--tokens-per-day", TOKENS], { env });
  assert.equal(made.code, 0, made.stderr);
  const query: Cluster["query"] = async (sql) => {
    for (;;) {
      const rows = await postgres.query(address, sql).catch(refuseDefects);
      if (rows) return rows;
    }
  };
  await noteWriters({ query });
  const model = ["-m", "custom/slow", "--provider", "openai-chat", "--url", upstream.url];
  model.push("--api-key-name", KEY_VARIABLE);
  const onFault = (fault: string): void => {
    process.stderr.write(`${fault}\n`);
    faults.push(fault);
  };
  const start = async (name: string): Promise<Machine> => {
    const serve = ["serve", "--port", "0", "--log", "off", "--tools", "subagent", ...model];
    const isWorker = name.startsWith("worker");
    const args = isWorker ? ["worker", ...model] : serve;
    const up = isWorker ? /working/ : /listening at (http[^\s,]+)[\s,]/;
    const machine = await startMachine(place, {
      name,
      args,
      up,
      onFault,
      env: { ...env, OFFSHOOT_STORE: withName(address, name), [KEY_VARIABLE]: name },
    });
    t.after(() => machine.end());
    return machine;
  };
  const replicas = await Promise.all(["replica-1", "replica-2", "replica-3"].map(start));
  const workers = await Promise.all(["worker-1", "worker-2"].map(start));
  const proxy = await startRoundRobin(() => replicas.flatMap(({ url }) => url ?? []));
  // Hooks run in the order in which they were added: the machines have ended by then.
  t.after(() => proxy[Symbol.asyncDispose]());
  t.after(() => place[Symbol.asyncDispose]());
  return {
    place,
    env,
    postgres,
    address,
    replicas,
    workers,
    machines: [...replicas, ...workers],
    url: proxy.url,
    token: made.stdout.trim(),
    query,
  };
}

/** Passes errors of Postgres about the query itself, and not about the connection. */
function refuseDefects(thrown: unknown): undefined {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  if (/^(42|22|23)/.test(code)) throw thrown;
  return undefined;
}
