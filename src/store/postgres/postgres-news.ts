/**
 * News of runs between processes, by `listen` and `notify`. Ids that come within a few milliseconds go together, in a
 * statement of their own after the commit: a `notify` inside a transaction would make all transactions commit one
 * after the other.
 *
 * Some poolers accept `listen` and forward nothing. So each process sends itself a message from time to time: it
 * counts as listening only if the message arrives (`isLive`); otherwise it polls runs as with a store without news.
 */

import { randomUUID } from "node:crypto";
import type { StoreNews } from "../store.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { type Client, loadDriver } from "./postgres-driver.ts";

const CHANNEL = "offshoot";
/** How far a reader in another process lags at most, besides the time of the message. */
const GATHER_MS = 5;
/** How often to check that messages arrive, and how long one may take. */
const PROBE_MS = 5000;
const HEARD_MS = 15_000;
/** Postgres takes 8,000 bytes for each message. */
const MAX_PAYLOAD = 7000;

export interface PostgresNews extends StoreNews {
  /** Reports to the others that a run was written to. Never waits, never fails. */
  tell(id: string): void;
  close(): Promise<void>;
}

/** Makes a connection of its own, not yet open. */
type CreateClient = (address: string) => Client | Promise<Client>;

/** Listens from the first call of `listen` on; until then it only sends. */
export function createPostgresNews(
  db: PostgresDatabase,
  createClient: CreateClient = async (address) => (await loadDriver()).createClient(address),
): PostgresNews {
  return new Listening(db, createClient);
}

class Listening implements PostgresNews {
  readonly #db: PostgresDatabase;
  readonly #self = randomUUID();
  readonly #rings = new Set<(id: string | undefined) => void>();
  readonly #waiting = new Set<string>();
  #gathering: NodeJS.Timeout | undefined;
  #probing: NodeJS.Timeout | undefined;
  readonly #createClient: CreateClient;
  #client: Client | undefined;
  #isOpening = false;
  #heardAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #sending: Promise<void> = Promise.resolve();

  constructor(db: PostgresDatabase, createClient: CreateClient) {
    this.#db = db;
    this.#createClient = createClient;
  }

  get isLive(): boolean {
    return performance.now() - this.#heardAt < HEARD_MS;
  }

  tell(id: string): void {
    if (this.#isClosed) return;
    this.#waiting.add(id);
    this.#gathering ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  listen(ring: (id: string | undefined) => void): () => void {
    this.#rings.add(ring);
    if (this.#probing === undefined) {
      this.#probing = setInterval(() => this.#probe(), PROBE_MS);
      this.#probing.unref();
      this.#probe();
    }
    return () => void this.#rings.delete(ring);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#probing);
    clearTimeout(this.#gathering);
    this.#flush();
    await this.#sending;
    await this.#drop();
  }

  /** If no message arrives in time, opens another connection. */
  #probe(): void {
    const isSilent = performance.now() - this.#heardAt > HEARD_MS;
    if (this.#client && !isSilent) return this.#send([]);
    // One that is being opened has its own time limit. A second one would close it again.
    if (this.#isOpening) return;
    this.#isOpening = true;
    const opened = this.#sending.then(() => this.#open()).catch(() => {});
    this.#sending = opened.finally(() => {
      this.#isOpening = false;
    });
  }

  async #open(): Promise<void> {
    await this.#drop();
    if (this.#isClosed) return;
    const client = await this.#createClient(this.#db.address);
    // An earlier connection may still report its errors, its end and messages: they say nothing about this one.
    const isCurrent = (): boolean => this.#client === client;
    client.on("error", () => void (isCurrent() && this.#drop()));
    client.on("end", () => {
      if (isCurrent()) this.#client = undefined;
    });
    client.on("notification", ({ payload = "" }) => void (isCurrent() && this.#hear(payload)));
    await client.connect();
    this.#client = client;
    await client.query(`listen ${CHANNEL}`);
    this.#send([]);
    // Earlier messages are not received.
    this.#ring(undefined);
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#heardAt = Number.NEGATIVE_INFINITY;
    await client?.end().catch(() => {});
  }

  #hear(payload: string): void {
    const [from, ...ids] = payload.split("\n");
    if (from === this.#self) {
      this.#heardAt = performance.now();
      return;
    }
    for (const id of ids) this.#ring(id === "" ? undefined : id);
  }

  #ring(id: string | undefined): void {
    for (const ring of this.#rings) ring(id);
  }

  #flush(): void {
    this.#gathering = undefined;
    const ids = [...this.#waiting];
    this.#waiting.clear();
    let page: string[] = [];
    let size = 0;
    for (const id of ids) {
      // An id that does not fit into a message is reported as an empty name.
      const name = /[\n\0\p{Surrogate}]/u.test(id) || id.length > 500 ? "" : id;
      size += Buffer.byteLength(name) + 1;
      page.push(name);
      if (size < MAX_PAYLOAD - 500) continue;
      this.#send(page);
      [page, size] = [[], 0];
    }
    if (page.length > 0) this.#send(page);
  }

  #send(ids: readonly string[]): void {
    const payload = [this.#self, ...ids].join("\n");
    const sent = this.#db.get("select pg_notify($1, $2)", CHANNEL, payload).catch(() => {});
    const before = this.#sending;
    // Resolves to nothing: a promise of both answers would keep those of all messages before.
    this.#sending = sent.then(() => before);
  }
}
