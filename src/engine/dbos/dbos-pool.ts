/** The connections that DBOS has in this process, beside those of the store. */

import type { Pool } from "pg";
import { LEASE_MS } from "../../store/ownership.ts";

/** Each start and each ending is a transaction of some statements. */
const CONNECTIONS = 4;
/** As for the store's own. */
const CONNECT_MS = 5000;

export async function openDbosPool(address: string): Promise<Pool> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({
    connectionString: address,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: "offshoot dbos",
    // A process that was stopped inside a transaction holds up those who take over for no longer than a lease.
    async onConnect(client) {
      await client.query(`set idle_in_transaction_session_timeout = ${LEASE_MS}`);
    },
  });
  // One that waits in the pool may be cut at any time; whoever asks next gets another.
  pool.on("error", () => {});
  return pool;
}
