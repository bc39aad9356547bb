/** The driver, as this package uses it: the package `pg`, loaded by whoever opens such a record. */

import { Socket } from "node:net";
import type { Client, Pool } from "pg";

export type SqlValue = string | number | boolean | null | Uint8Array | readonly SqlValue[];
export type SqlRow = Readonly<Record<string, unknown>>;

export interface Driver {
  openPool(address: string): OpenedPool;
  /** A connection of its own, not yet open. `statementMs`: how long a statement may take. */
  createClient(address: string, statementMs?: number): Client;
}

export interface OpenedPool {
  readonly pool: Pool;
  /** Ends connections at once, also those whose login failed: the driver leaves them open. */
  drop(): void;
  close(): Promise<void>;
}

/** How long a new connection may take; a database that is restarted takes about a second. */
const CONNECT_MS = 5000;
/** Longer than any statement of ours; a database that has gone silent is not waited for for ever. */
const STATEMENT_MS = 60_000;
/** Connections of one process. Most of what we write is one statement, done in a millisecond. */
const MAX_CONNECTIONS = 8;

/** The object id of `bigint`, which the driver gives as text: our numbers are exact in a double. */
const INT8 = 20;

export async function loadDriver(): Promise<Driver> {
  const { default: pg } = await import("pg");
  const types = {
    getTypeParser(id: number, format?: "text" | "binary") {
      if (id === INT8 && format !== "binary") return Number;
      return pg.types.getTypeParser(id, format as "text");
    },
  };
  const shared = (address: string) => ({
    ...{ connectionString: address, types: types as typeof pg.types },
    ...{ connectionTimeoutMillis: CONNECT_MS, query_timeout: STATEMENT_MS },
    ...{ keepAlive: true, application_name: "offshoot" },
  });
  return {
    openPool(address) {
      const sockets = new Set<Socket>();
      const stream = (): Socket => {
        const socket = new Socket();
        sockets.add(socket);
        return socket.once("close", () => sockets.delete(socket));
      };
      const size = { max: MAX_CONNECTIONS, allowExitOnIdle: true };
      const pool = new pg.Pool({ ...shared(address), ...size, stream });
      // One that waits in the pool may be cut at any time; whoever asks next gets another.
      pool.on("error", () => {});
      // The pool listens to those that wait in it alone. One that is cut in the middle of a transaction tells its
      // next question so; without a listener it would end the process.
      pool.on("connect", (client) => client.on("error", () => {}));
      const drop = (): void => {
        for (const socket of sockets) socket.destroy();
      };
      return { pool, drop, close: () => pool.end().finally(drop) };
    },
    createClient: (address, statementMs = STATEMENT_MS) =>
      new pg.Client({ ...shared(address), query_timeout: statementMs }),
  };
}

export type { Client };
