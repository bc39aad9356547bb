/**
 * The test bench of the DBOS engine. DBOS is one for each process, so each engine here has its own instance of the
 * modules and its own connections: to DBOS and to the database they are separate processes.
 */

import { createRequire } from "node:module";
import { dirname, sep } from "node:path";
import type { DBOS } from "@dbos-inc/dbos-sdk";
import pg, { type PoolClient } from "pg";
import { systemClock } from "../../../src/base/clock.ts";
import { createDbosEngine } from "../../../src/engine/dbos/dbos-engine.ts";
import type { Sdk } from "../../../src/engine/dbos/dbos-sdk.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import {
  type Call,
  count,
  type LocalBench,
  type MortalProcess,
  openLocalBench,
  withoutNews,
} from "../local-fixture.ts";

/** `address` is that of a database with the tables of both. */
export async function openDbosBench(address: string): Promise<LocalBench> {
  const processes: { sdk: Sdk; connections: MortalPool; process: MortalProcess }[] = [];
  const open = async () => {
    const kept = await openKept(address);
    return {
      store: withoutNews(await kept.runs()),
      spending: await kept.spending(),
      async close() {
        for (const { sdk, connections, process } of processes) {
          await connections.close();
          // A process that was killed has no timers.
          if (process.isDead()) void sdk.shutdown().catch(() => {});
        }
        await kept.close();
      },
    };
  };
  return await openLocalBench(open, (options, process) => {
    const sdk = loadAnotherSdk();
    const connections = openMortalPool(address, process);
    processes.push({ sdk, connections, process });
    const place = { address, sdk, pool: connections.pool };
    return createDbosEngine({ ...options, clock: options.clock ?? systemClock, place });
  });
}

const require = createRequire(import.meta.url);

/** The class `DBOS` of modules that nothing else uses. */
export function loadAnotherSdk(): typeof DBOS {
  const entry = require.resolve("@dbos-inc/dbos-sdk");
  const [root = dirname(entry)] = /^.*@dbos-inc[\\/]dbos-sdk/.exec(entry) ?? [];
  for (const path of Object.keys(require.cache)) {
    if (path.startsWith(`${root}${sep}`)) delete require.cache[path];
  }
  return (require("@dbos-inc/dbos-sdk") as { readonly DBOS: typeof DBOS }).DBOS;
}

interface MortalPool {
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

/** The connections of a process. They are closed when it is killed: the server rolls back its transactions. */
function openMortalPool(address: string, { isDead, onDeath }: MortalProcess): MortalPool {
  const pool = new pg.Pool({ connectionString: address, max: 20 });
  pool.on("error", () => {});
  let isClosed = false;
  /** Lent connections, and how each is returned. */
  const lent = new Map<PoolClient, PoolClient["release"]>();
  /**
   * Calls of a dead process that wait for an answer. They are rejected at the end, so that they do not retry for ever.
   */
  const unanswered = new Set<(reason: Error) => void>();
  const cut = (): void => {
    for (const giveBack of lent.values()) giveBack(true);
    lent.clear();
  };
  const ask = async (call: Call, values: unknown[]): Promise<unknown> => {
    const answer = isDead() ? undefined : await count(call, values).catch(rethrowUnlessDead);
    if (!isDead()) return answer;
    return await new Promise((_, reject) => {
      if (isClosed) reject(new Error("The test is over."));
      else unanswered.add(reject);
    });
  };
  const rethrowUnlessDead = (thrown: unknown): void => {
    if (!isDead()) throw thrown;
  };
  const wrap = <Asked extends object>(asked: Asked, calls: Readonly<Record<string, Call>>): Asked =>
    new Proxy(asked, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        const call = Object.hasOwn(calls, name) ? calls[String(name)] : undefined;
        return call ? (...values: unknown[]) => ask(call, values) : value.bind(target);
      },
    });
  const connect = async (): Promise<PoolClient> => {
    const client = await pool.connect();
    const giveBack = client.release.bind(client);
    lent.set(client, giveBack);
    // DBOS replaces it with a function of its own, which calls this one.
    client.release = (error) => {
      if (lent.delete(client)) giveBack(error);
    };
    if (isDead()) cut();
    return wrap(client, { query: client.query.bind(client) as Call });
  };
  onDeath(cut);
  return {
    pool: wrap(pool, { connect, query: pool.query.bind(pool) as Call }),
    async close() {
      isClosed = true;
      cut();
      for (const reject of unanswered) reject(new Error("The test is over."));
      await pool.end();
    },
  };
}
