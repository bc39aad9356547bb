/** Creates DBOS's tables in the schema `dbos`: once, by `offshoot store migrate`, and never by a process that runs. */

import type { Pool, PoolClient } from "pg";
import { systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { makeWorkerId } from "../worker.ts";
import { configureDbos } from "./dbos-host.ts";
import { openDbosPool } from "./dbos-pool.ts";
import { loadSdk, type Sdk } from "./dbos-sdk.ts";

/** Migrates with a launch, which is silent: `DBOS.migrate` writes to standard output. */
export async function setUpDbos(address: string, sdk?: Sdk): Promise<void> {
  const dbos = sdk ?? (await loadSdk());
  const pool = await openDbosPool(address);
  let lock: PoolClient | undefined;
  try {
    lock = await takeLock(pool);
    configureDbos(dbos, { address, workerId: makeWorkerId(), pool }, { runMigrations: true });
    await dbos.launch();
  } catch (cause) {
    const { message } = toFailure(cause);
    throw new Failure("store_failed", `DBOS could not make its tables: ${message}`, { cause });
  } finally {
    await dbos.shutdown();
    // The transaction ends with its connection.
    lock?.release(true);
    await pool.end();
  }
}

/** A lock of our own: of two processes that make DBOS's tables at the same time, DBOS itself fails one. */
const LOCK = 0x4f666462;

/** How often a process that waits for the lock asks for it. */
const TRY_MS = 100;

/**
 * A transaction, because a pooler may give the connection of a session to others. It lasts as long as the launch. Asks
 * again and again, without a snapshot in between: DBOS makes indexes `concurrently`, which waits for all older
 * snapshots.
 */
async function takeLock(pool: Pool): Promise<PoolClient> {
  const client = await pool.connect();
  try {
    await client.query(BEGIN);
    while (!(await client.query<{ readonly taken: boolean }>(TAKE)).rows[0]?.taken) {
      await systemClock.sleep(TRY_MS, undefined);
    }
    return client;
  } catch (thrown) {
    client.release(true);
    throw thrown;
  }
}

const BEGIN = `begin isolation level read committed;
  set local idle_in_transaction_session_timeout = 0`;
const TAKE = `select pg_try_advisory_xact_lock(${LOCK}) as taken`;
