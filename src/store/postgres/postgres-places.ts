/**
 * The places of keys in the table `places`, one row for each place that is taken. `offshoot.take_place` counts and
 * takes in one statement, under a lock of the key.
 *
 * A process says every two seconds which places it still has. One that was not heard of for a lease, by the clock of
 * the database, does not count any more. So nothing is left of a process that died, of a connection that was cut
 * after the commit, or of a place whose giving back was lost.
 *
 * The table is unlogged: nobody waits for the disk, and a database that crashed begins with an empty one. The next
 * beat of each process fills it again.
 */

import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../base/clock.ts";
import { LEASE_MS } from "../ownership.ts";
import type { PlaceCount } from "../places.ts";
import { toColumn } from "../text-column.ts";
import type { Database } from "./postgres-database.ts";

/** A fifth of a lease; most requests are over before their first beat. */
const BEAT_MS = 2000;
/**
 * Before a request is refused, the count is looked at a second time: another server may have sent an answer, and its
 * client the next request, a moment before the place was given back.
 */
const SECOND_LOOK_MS = 50;

const TAKE = "select offshoot.take_place($1, $2, $3, $4) as is_taken";
const LEAVE = "delete from offshoot.places where id = $1";
const KEEP = `insert into offshoot.places (id, key_id)
  select * from unnest($1::text[], $2::text[])
  on conflict (id) do update set beaten_at = clock_timestamp()`;
const LEAVE_ALL = "delete from offshoot.places where id = any($1)";

export interface PostgresPlaces extends PlaceCount {
  /** Gives back all that this process has. The caller closes the database. */
  close(): Promise<void>;
}

export function createPostgresPlaces(db: Database, clock: Clock = systemClock): PostgresPlaces {
  return new Places(db, clock);
}

class Places implements PostgresPlaces {
  readonly #db: Database;
  readonly #clock: Clock;
  /** What this process has, by the id of the place: its key. */
  readonly #held = new Map<string, string>();
  /** By key, what is just being given back here. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  #beating: Promise<unknown> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  async take(keyId: string, limit: number): Promise<(() => void) | undefined> {
    const key = toColumn(keyId);
    const id = randomUUID();
    if (!(await this.#tryTake(id, key, limit))) {
      await (this.#leaving.get(key) ?? this.#clock.sleep(SECOND_LOOK_MS, undefined));
      if (!(await this.#tryTake(id, key, limit))) return undefined;
    }
    this.#held.set(id, key);
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref();
    return () => this.#leave(id, key);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const ids = [...this.#held.keys()];
    this.#held.clear();
    await Promise.all([this.#beating, ...this.#leaving.values()]);
    // A database that is away forgets them by itself.
    if (ids.length > 0) await this.#db.write(({ run }) => run(LEAVE_ALL, ids)).catch(() => {});
  }

  async #tryTake(id: string, key: string, limit: number): Promise<boolean> {
    const row = await this.#db.get(TAKE, id, key, limit, LEASE_MS);
    return row?.["is_taken"] === true;
  }

  #leave(id: string, key: string): void {
    if (!this.#held.delete(id)) return;
    if (this.#held.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const leaving: Promise<unknown> = this.#remove(id, this.#leaving.get(key)).finally(() => {
      if (this.#leaving.get(key) === leaving) this.#leaving.delete(key);
    });
    this.#leaving.set(key, leaving);
  }

  /** After the beat that may still name it. Never fails: a place that is not beaten does not count for long. */
  async #remove(id: string, before: Promise<unknown> | undefined): Promise<void> {
    await this.#beating;
    await Promise.all([before, this.#db.write(({ run }) => run(LEAVE, id)).catch(() => {})]);
  }

  /** One at a time. The next one tries again what this one could not; meanwhile the places may go to others. */
  #beat(): void {
    if (this.#beating !== undefined) return;
    const [ids, keys] = [[...this.#held.keys()], [...this.#held.values()]];
    const written = this.#db.write(({ run }) => run(KEEP, ids, keys)).catch(() => {});
    this.#beating = written.finally(() => {
      this.#beating = undefined;
    });
  }
}
