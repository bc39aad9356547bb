/**
 * One Postgres database as this package uses it. A single statement is one transaction; work of several statements
 * has a connection of the pool for its time.
 *
 * If the database is restarted, or cannot decide between two transactions, it is asked again, without blocking the
 * event loop, for `BUSY_LIMIT_MS` at most. A connection may be lost after the commit: so a second try knows that it
 * is one (`isRetry`), and finds out by reading whether the first one succeeded.
 */

import { whenFree } from "../../base/busy.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import {
  loadDriver,
  type OpenedPool,
  type PostgresRow,
  type PostgresValue,
} from "./postgres-driver.ts";
import { toStoreFailure } from "./postgres-fault.ts";

export interface Queries {
  /** Returns how many rows changed. */
  run(sql: string, ...values: PostgresValue[]): Promise<number>;
  get(sql: string, ...values: PostgresValue[]): Promise<PostgresRow | undefined>;
  all(sql: string, ...values: PostgresValue[]): Promise<PostgresRow[]>;
}

/** Asked again while the database does not answer. */
export type Reads = Pick<Queries, "get" | "all">;

export interface PostgresDatabase extends Reads {
  /** The address for people: without its user, its password and its options. */
  readonly name: string;
  /** The whole address, for a connection outside the pool. */
  readonly address: string;
  /** Runs `work` as one transaction: all of it or nothing. */
  transact<Out>(work: (tx: Queries, isRetry: boolean) => Promise<Out>): Promise<Out>;
  /**
   * Like `transact`, for a write of one statement, which needs no transaction around it. `limitMs`: how long to wait
   * for a database that does not answer, if not as long as usual.
   */
  write<Out>(
    work: (queries: Queries, isRetry: boolean) => Promise<Out>,
    limitMs?: number,
  ): Promise<Out>;
  /** Why a write failed within the last seconds because there was no space. */
  readonly full: Failure | undefined;
  close(): Promise<void>;
}

/**
 * How long a transaction may do nothing between two statements before the database ends it. Otherwise a process that
 * is stopped, or whose machine is gone, would keep its locks, and no other process could take over its runs. So it is
 * less than the time after which others do that (`LEASE_MS`), and longer than a busy machine takes between two
 * statements.
 */
const STILL_MS = 5000;
/**
 * How long a transaction waits for a lock before it is undone and tried again. A process that is stopped may also wait
 * for locks: if it got one then, it would keep it for `STILL_MS` more, and each of its connections could do so in turn.
 * Its waits end before the lock that it holds is released. Others lend their connection to the next one between two
 * tries, so that a heartbeat waits for no longer than this.
 */
const LOCK_MS = 2000;
/**
 * One message to the server. Each statement has to see what was committed before it began, also while this transaction
 * waited for a lock, whatever the default of the database is. `set local`, because a pooler may give the connection to
 * others afterwards.
 */
const BEGIN = `begin isolation level read committed;
  set local idle_in_transaction_session_timeout = ${STILL_MS}; set local lock_timeout = ${LOCK_MS}`;

/** How long a database without space counts as full: its free space cannot be asked for. */
const FULL_MS = 10_000;

interface OpenOptions {
  readonly clock?: Clock | undefined;
  /** How long a statement may take, if not as long as those of a server. */
  readonly statementMs?: number | undefined;
}

/** For maintenance: an index over a large table, a vacuum, a check of all rows. */
export const MAINTENANCE_MS = 6 * 3_600_000;

/** Opens nothing yet: the first query does. */
export async function openDatabase(
  address: string,
  { clock = systemClock, statementMs }: OpenOptions = {},
): Promise<PostgresDatabase> {
  const name = nameOf(address);
  const { openPool } = await loadDriver();
  return new OpenPostgresDatabase(name, address, openPool(address, statementMs), clock);
}

class OpenPostgresDatabase implements PostgresDatabase {
  readonly name: string;
  readonly address: string;
  readonly #opened: OpenedPool;
  readonly #clock: Clock;
  readonly #queries: Queries;
  #hasAnswered = false;
  #full: { readonly failure: Failure; readonly atMs: number } | undefined;
  #isClosed = false;

  constructor(name: string, address: string, opened: OpenedPool, clock: Clock) {
    this.name = name;
    this.address = address;
    this.#opened = opened;
    this.#clock = clock;
    this.#queries = toQueries((sql, values) =>
      this.#translated(() => opened.pool.query<PostgresRow>(sql, values)),
    );
  }

  async get(sql: string, ...values: PostgresValue[]): Promise<PostgresRow | undefined> {
    return await this.write(({ get }) => get(sql, ...values));
  }

  async all(sql: string, ...values: PostgresValue[]): Promise<PostgresRow[]> {
    return await this.write(({ all }) => all(sql, ...values));
  }

  async transact<Out>(work: (tx: Queries, isRetry: boolean) => Promise<Out>): Promise<Out> {
    return await this.#again((isRetry) => this.#transactOnce((tx) => work(tx, isRetry)));
  }

  async write<Out>(
    work: (queries: Queries, isRetry: boolean) => Promise<Out>,
    limitMs?: number,
  ): Promise<Out> {
    return await this.#again((isRetry) => work(this.#queries, isRetry), limitMs);
  }

  get full(): Failure | undefined {
    const isFresh = this.#full && this.#clock.now() - this.#full.atMs < FULL_MS;
    return isFresh ? this.#full?.failure : undefined;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#opened.close();
  }

  /** Does not wait for a database that never answered: its address is wrong, or it is not started. */
  async #again<Out>(work: (isRetry: boolean) => Promise<Out>, limitMs?: number): Promise<Out> {
    let tries = 0;
    const nowMs = this.#clock.now();
    const endMs = this.#hasAnswered ? limitMs && nowMs + limitMs : nowMs;
    const done = await whenFree(() => work(tries++ > 0), this.#clock, endMs);
    this.#hasAnswered = true;
    return done;
  }

  async #transactOnce<Out>(work: (tx: Queries) => Promise<Out>): Promise<Out> {
    const client = await this.#translated(() => this.#opened.pool.connect());
    const ask: Ask = (sql, values) => this.#translated(() => client.query(sql, values));
    let broken: Error | undefined;
    try {
      await ask(BEGIN, []);
      const result = await work(toQueries(ask));
      await ask("commit", []);
      return result;
    } catch (thrown) {
      broken = await rollBack(client);
      throw thrown;
    } finally {
      // A connection that could not be rolled back is closed.
      client.release(broken);
    }
  }

  async #translated<Out>(work: () => Promise<Out>): Promise<Out> {
    this.#checkOpen();
    try {
      return await work();
    } catch (cause) {
      const failure = toStoreFailure(this.name, cause);
      // A process that gives up here ends, and does not wait for a server that waits for its login.
      if (!this.#hasAnswered) this.#opened.drop();
      if (failure.code === "store_full") this.#full = { failure, atMs: this.#clock.now() };
      throw failure;
    }
  }

  #checkOpen(): void {
    if (!this.#isClosed) return;
    const message = `The store \`${this.name}\` was closed before it could be used.`;
    throw new Failure("store_failed", message);
  }
}

type Ask = (
  sql: string,
  values: PostgresValue[],
) => Promise<{ readonly rowCount: number | null; readonly rows: PostgresRow[] }>;

function toQueries(ask: Ask): Queries {
  return {
    run: async (sql, ...values) => (await ask(sql, values)).rowCount ?? 0,
    get: async (sql, ...values) => (await ask(sql, values)).rows[0],
    all: async (sql, ...values) => (await ask(sql, values)).rows,
  };
}

async function rollBack(client: {
  query(sql: string): Promise<unknown>;
}): Promise<Error | undefined> {
  try {
    await client.query("rollback");
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

/** `postgres://db.example:5432/offshoot`. Throws `invalid_request` for an invalid address. */
export function nameOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const path = url && /^postgres(ql)?:$/.test(url.protocol) ? decodePath(url) : undefined;
  if (url && path !== undefined && isPort(url.searchParams.get("port"))) {
    return `postgres://${url.host}${path}`;
  }
  const message =
    "The address of the store is not `postgres://USER@HOST:PORT/DATABASE`. Check it for spaces and unescaped characters.";
  throw new Failure("invalid_request", message);
}

/** Undefined if a `%` does not begin an escape, or if no database can have this name. */
function decodePath({ pathname }: URL): string | undefined {
  try {
    const path = decodeURI(pathname);
    return path.includes("\0") ? undefined : path;
  } catch {
    return undefined;
  }
}

/** Null means the usual port. */
function isPort(text: string | null): boolean {
  return text === null || (/^\d+$/.test(text) && Number(text) <= 65_535);
}
