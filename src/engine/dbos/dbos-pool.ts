/** The connections that DBOS has in this process, besides those of the store. */

import type { Pool } from "pg";
import { LEASE_MS } from "../../store/ownership.ts";

/** Each start and each ending is a transaction of some statements. */
const CONNECTIONS = 4;
/** How long a new connection may take, like the store's own. */
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
    // A process that was stopped inside a transaction blocks those that take over for no longer than a lease.
    async onConnect(client) {
      await client.query(`set idle_in_transaction_session_timeout = ${LEASE_MS}`);
    },
  });
  // A connection that waits in the pool may be closed at any time; the next query gets another.
  pool.on("error", () => {});
  return pool;
}
