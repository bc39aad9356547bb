/**
 * One Postgres database as this package uses it. What is one statement is one transaction; what needs several
 * has a connection of the pool meanwhile.
 *
 * A database that is restarted, or that cannot decide between two transactions, is asked again, without holding
 * the event loop, for `BUSY_LIMIT_MS` at most. A connection that is cut may be cut after the commit: so what is
 * tried again is told so (`isRetry`), and finds out by what it reads whether it was done before.
 */

import { whenFree } from "../../base/busy.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { loadDriver, type OpenedPool, type SqlRow, type SqlValue } from "./postgres-driver.ts";
import { toStoreFailure } from "./postgres-fault.ts";

export interface Queries {
  /** Returns how many rows changed. */
  run(sql: string, ...values: SqlValue[]): Promise<number>;
  get(sql: string, ...values: SqlValue[]): Promise<SqlRow | undefined>;
  all(sql: string, ...values: SqlValue[]): Promise<SqlRow[]>;
}

/** Asked again while the database does not answer. */
export type Reads = Pick<Queries, "get" | "all">;

export interface Database extends Reads {
  /** The address for people: without its user, its password and its options. */
  readonly name: string;
  /** The whole address, for a connection beside the pool. */
  readonly address: string;
  /** Runs `work` as one transaction: all of it or nothing. */
  transact<Out>(work: (tx: Queries, isRetry: boolean) => Promise<Out>): Promise<Out>;
  /**
   * The same for what writes by one statement, which needs no transaction around it. `limitMs`: how long a database that
   * does not answer is waited for, where it is not as long as for all others.
   */
  write<Out>(
    work: (queries: Queries, isRetry: boolean) => Promise<Out>,
    limitMs?: number,
  ): Promise<Out>;
  /** Why something could not be written within the last seconds, where there was no room for it. */
  readonly full: Failure | undefined;
  close(): Promise<void>;
}

/**
 * How long a transaction may do nothing between two statements before the database ends it. A process that is stopped,
 * or whose machine is gone, else keeps its locks, and nobody can take over what it had: so it is less than the time
 * after which others do (`LEASE_MS`), and longer than a busy machine takes between two statements.
 */
const STILL_MS = 5000;
/** One message to the server. `set local`, because a pooler may give the connection to others afterwards. */
const BEGIN = `begin; set local idle_in_transaction_session_timeout = ${STILL_MS}`;

/** For how long a database that had no room counts as full: nobody can ask it how much it has. */
const FULL_MS = 10_000;

/** Opens nothing yet: the first question does. */
export async function openDatabase(address: string, clock: Clock = systemClock): Promise<Database> {
  const name = nameOf(address);
  const { openPool } = await loadDriver();
  return new PostgresDatabase(name, address, openPool(address), clock);
}

class PostgresDatabase implements Database {
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
      this.#translated(() => opened.pool.query<SqlRow>(sql, values)),
    );
  }

  async get(sql: string, ...values: SqlValue[]): Promise<SqlRow | undefined> {
    return await this.write(({ get }) => get(sql, ...values));
  }

  async all(sql: string, ...values: SqlValue[]): Promise<SqlRow[]> {
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

  /** One that never answered is not waited for: its address is wrong, or it is not started. */
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
      // One that could not be rolled back is thrown away.
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
  values: SqlValue[],
) => Promise<{ readonly rowCount: number | null; readonly rows: SqlRow[] }>;

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

/** `postgres://db.example:5432/offshoot`. Throws `invalid_request` for what is no address. */
export function nameOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && /^postgres(ql)?:$/.test(url.protocol)) {
    return `postgres://${url.host}${decodeURI(url.pathname)}`;
  }
  const message =
    "The address of the store is no `postgres://USER@HOST:PORT/DATABASE`. Check it for spaces and unescaped characters.";
  throw new Failure("invalid_request", message);
}
