/**
 * The time of the database, asked for once a minute and counted on in between by this machine's monotonic clock: a wall clock that is
 * wrong, or that jumps, changes nothing. So a replica with such a clock removes no response before its time, counts budgets of
 * keys in the same minutes and days as the others, and gives up no webhook too early.
 */

import { systemClock } from "../../base/clock.ts";
import type { RecordClock } from "../record-clock.ts";
import type { PostgresDatabase } from "./postgres-database.ts";

const EVERY_MS = 60_000;
/** The error is half of what the answer takes. A slower one says less than what is known already. */
const MAX_ROUND_MS = 2000;

export interface PostgresClock extends RecordClock {
  close(): void;
}

/** Rejects where the database does not answer. */
export async function openPostgresClock(db: PostgresDatabase): Promise<PostgresClock> {
  let startMs = (await ask(db)).startMs;
  const again = async (): Promise<void> => {
    const asked = await ask(db);
    if (asked.roundMs <= MAX_ROUND_MS) startMs = asked.startMs;
  };
  // A database that is away is asked again a minute later; the time continues meanwhile.
  const timer = setInterval(() => void again().catch(() => {}), EVERY_MS).unref();
  const now = (): number => Math.round(startMs + performance.now());
  return {
    now,
    sleep: systemClock.sleep,
    get machineAheadMs() {
      return systemClock.now() - now();
    },
    close: () => clearInterval(timer),
  };
}

/** When the monotonic clock of this process was 0, by the clock of the database. */
async function ask(
  db: PostgresDatabase,
): Promise<{ readonly startMs: number; readonly roundMs: number }> {
  const beforeMs = performance.now();
  const sql = "select extract(epoch from clock_timestamp()) * 1000 as now_ms";
  const row = await db.get(sql);
  const afterMs = performance.now();
  return {
    startMs: Number(row?.["now_ms"]) - (beforeMs + afterMs) / 2,
    roundMs: afterMs - beforeMs,
  };
}
