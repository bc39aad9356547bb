/** Creates DBOS's tables in the schema `dbos`: once, by `offshoot store migrate`, and never by a process that runs. */

import { Failure, toFailure } from "../../base/failure.ts";
import { makeWorkerId } from "../worker.ts";
import { configureDbos } from "./dbos-host.ts";
import { openDbosPool } from "./dbos-pool.ts";
import { loadSdk } from "./dbos-sdk.ts";

/** Migrates with a launch, which is silent: `DBOS.migrate` writes to standard output. */
export async function setUpDbos(address: string): Promise<void> {
  const sdk = await loadSdk();
  const pool = await openDbosPool(address);
  try {
    configureDbos(sdk, { address, workerId: makeWorkerId(), pool }, { runMigrations: true });
    await sdk.launch();
  } catch (cause) {
    const { message } = toFailure(cause);
    throw new Failure("store_failed", `DBOS could not make its tables: ${message}`, { cause });
  } finally {
    await sdk.shutdown();
    await pool.end();
  }
}
