/**
 * The places of keys in the table `places`, one row for each place that is taken. `offshoot.take_place` counts and
 * takes in one statement, under a lock of the key.
 *
 * A process reports every two seconds which places it still has. A place without a report for the length of a lease,
 * by the clock of the database, does not count any more. So nothing is left of a process that died, of a connection
 * that was lost after the commit, or of a place whose return was lost. A process that only stood still takes its
 * places again with its next beat, and learns which went to others meanwhile: their requests end.
 *
 * The table is unlogged: writes do not wait for the disk, and after a crash the database begins with an empty one. The
 * next beat of each process fills it again.
 */

import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../base/clock.ts";
import { LEASE_MS } from "../ownership.ts";
import type { PlaceCount } from "../place-count.ts";
import { toColumn } from "../text-column.ts";
import type { PostgresDatabase } from "./postgres-database.ts";

/** A fifth of a lease; most requests are over before their first beat. */
const BEAT_MS = 2000;
/**
 * Before a request is refused, the places are counted a second time: another server may have sent an answer, and its
 * client the next request, a moment before the place was returned.
 */
const SECOND_LOOK_MS = 50;

const TAKE = "select offshoot.take_place($1, $2, $3, $4) as is_taken";
const LEAVE = "delete from offshoot.places where id = $1";
/** Keeps those that still count. The others have lapsed, or a crash of the database removed them. */
const KEEP = `update offshoot.places set beaten_at = clock_timestamp()
  where id = any($1) and beaten_at > clock_timestamp() - $2 * interval '1 millisecond' returning id`;
const PUT_BACK =
  "insert into offshoot.places (id, key_id) values ($1, $2) on conflict (id) do nothing";
const LEAVE_ALL = "delete from offshoot.places where id = any($1)";

export interface PostgresPlaces extends PlaceCount {
  /** Returns all places of this process. The caller closes the database. */
  close(): Promise<void>;
}

export function createPostgresPlaces(
  db: PostgresDatabase,
  clock: Clock = systemClock,
): PostgresPlaces {
  return new Places(db, clock);
}

class Places implements PostgresPlaces {
  readonly #db: PostgresDatabase;
  readonly #clock: Clock;
  /** The places of this process, by their ids. */
  readonly #held = new Map<string, HeldPlace>();
  /** When the last beat began that reached the database, or the first place was taken. */
  #heardMs = 0;
  /** The returns in progress here, by key. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  #beating: Promise<unknown> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: PostgresDatabase, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  async take(keyId: string, limit: number, onLost?: () => void): Promise<(() => void) | undefined> {
    const key = toColumn(keyId);
    const id = randomUUID();
    if (!(await this.#tryTake(id, key, limit))) {
      await (this.#leaving.get(key) ?? this.#clock.sleep(SECOND_LOOK_MS, undefined));
      if (!(await this.#tryTake(id, key, limit))) return undefined;
    }
    if (this.#held.size === 0) this.#heardMs = performance.now();
    this.#held.set(id, { key, limit, onLost });
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref();
    return () => this.#leave(id, key);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const ids = [...this.#held.keys()];
    this.#held.clear();
    await Promise.all([this.#beating, ...this.#leaving.values()]);
    // If the database cannot be reached, the places lapse by themselves.
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

  /** After the beat that may still name it. Never fails: a place without a beat does not count for long. */
  async #remove(id: string, before: Promise<unknown> | undefined): Promise<void> {
    await this.#beating;
    await Promise.all([before, this.#db.write(({ run }) => run(LEAVE, id)).catch(() => {})]);
  }

  /** One at a time. The next one tries again what this one could not; meanwhile the places may go to others. */
  #beat(): void {
    if (this.#beating !== undefined) return;
    this.#beating = this.#keep()
      .catch(() => {})
      .finally(() => {
        this.#beating = undefined;
      });
  }

  async #keep(): Promise<void> {
    const beganMs = performance.now();
    const wasSilent = beganMs - this.#heardMs > LEASE_MS;
    const ids = [...this.#held.keys()];
    const rows = await this.#db.write(({ all }) => all(KEEP, ids, LEASE_MS));
    const kept = new Set(rows.map((row) => String(row["id"])));
    for (const id of ids) if (!kept.has(id)) await this.#takeAgain(id, wasSilent);
    this.#heardMs = beganMs;
  }

  /**
   * A place that lapsed is taken again like any other, if one is left. A place that is missing although this process
   * was not silent was lost by a crash of the database, and is put back.
   */
  async #takeAgain(id: string, wasSilent: boolean): Promise<void> {
    const held = this.#held.get(id);
    if (!held) return;
    const { key, limit, onLost } = held;
    const hasIt = await this.#db.transact(async (tx) => {
      const hasLapsed = (await tx.run(LEAVE, id)) > 0;
      if (!hasLapsed && !wasSilent) return (await tx.run(PUT_BACK, id, key)) > 0;
      return (await tx.get(TAKE, id, key, limit, LEASE_MS))?.["is_taken"] === true;
    });
    if (hasIt || !this.#held.delete(id)) return;
    onLost?.();
  }
}

interface HeldPlace {
  readonly key: string;
  readonly limit: number;
  readonly onLost: (() => void) | undefined;
}
