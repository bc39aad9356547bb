/** The driver, as this package uses it: the package `pg`, loaded when such a record is opened. */

import { Socket } from "node:net";
import type { Client, Pool } from "pg";
import { BUSY_LIMIT_MS } from "../../base/busy.ts";

export type PostgresValue =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly PostgresValue[];
export type PostgresRow = Readonly<Record<string, unknown>>;

export interface Driver {
  /** `statementMs`: how long a statement may take, here and below. */
  openPool(address: string, statementMs?: number): OpenedPool;
  /** A connection of its own, not yet open. */
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
/**
 * Longer than any of our statements, except for those of maintenance. A database that stops answering without closing
 * its connections must not hold up a request for longer than one that is away.
 */
const STATEMENT_MS = BUSY_LIMIT_MS;
/** Connections of one process. Most of our writes are one statement, done in a millisecond. */
const MAX_CONNECTIONS = 8;

/** The object id of `bigint`, which the driver returns as text: our numbers are exact in a double. */
const INT8 = 20;

export async function loadDriver(): Promise<Driver> {
  const { default: pg } = await import("pg");
  const types = {
    getTypeParser(id: number, format?: "text" | "binary") {
      if (id === INT8 && format !== "binary") return Number;
      return pg.types.getTypeParser(id, format as "text");
    },
  };
  const shared = (address: string, statementMs: number) => ({
    connectionString: toExplicit(address),
    types: types as typeof pg.types,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: statementMs,
    keepAlive: true,
    application_name: "offshoot",
  });
  return {
    openPool(address, statementMs = STATEMENT_MS) {
      const sockets = new Set<Socket>();
      const stream = (): Socket => {
        const socket = new Socket();
        sockets.add(socket);
        return socket.once("close", () => sockets.delete(socket));
      };
      const size = { max: MAX_CONNECTIONS, allowExitOnIdle: true };
      const pool = new pg.Pool({ ...shared(address, statementMs), ...size, stream });
      // A connection that waits in the pool may be closed at any time; the next query gets another.
      pool.on("error", () => {});
      // The pool listens only to connections that wait in it. A connection that is lost in a transaction fails its
      // next query; without a listener the event would end the process.
      pool.on("connect", (client) => client.on("error", () => {}));
      const drop = (): void => {
        for (const socket of sockets) socket.destroy();
      };
      return { pool, drop, close: () => pool.end().finally(drop) };
    },
    createClient: (address, statementMs = STATEMENT_MS) =>
      new pg.Client(shared(address, statementMs)),
  };
}

/**
 * The driver takes these modes as `verify-full`, and prints a page about that; `verify-full` itself means the same
 * without it. `uselibpqcompat=true` in the address gives them Postgres's own, weaker meaning.
 */
const AS_VERIFY_FULL: ReadonlySet<string | null> = new Set(["prefer", "require", "verify-ca"]);

function toExplicit(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const options = url?.searchParams;
  if (!url || !AS_VERIFY_FULL.has(options?.get("sslmode") ?? null)) return address;
  if (options?.get("uselibpqcompat") === "true") return address;
  options?.set("sslmode", "verify-full");
  return url.href;
}

export type { Client };
