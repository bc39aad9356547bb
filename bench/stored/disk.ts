/**
 * A disk whose waits are counted, and with `BENCH_SYNC_MS` as slow as that. Loaded before a server (`--import`)
 * and by nothing else: it stands between SQLite's driver and whoever uses it in that process.
 *
 * A transaction that is committed with `synchronous = full` waits for the disk once. Checkpoints, one for
 * about a thousand pages, are not counted.
 */

import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Connection } from "../../src/store/sqlite/sqlite-driver.ts";

interface Driver {
  readonly DatabaseSync: new (path: string) => Connection;
}

const { BENCH_SYNC_MS, BENCH_SYNCS } = process.env;
const LEVEL = /^pragma synchronous = (full|normal)$/;
const PACKAGE = "@photostructure/sqlite";

const require = createRequire(import.meta.url);
const sleeper = new Int32Array(new SharedArrayBuffer(4));

const { getBuiltinModule } = process;
const builtin = getBuiltinModule.call(process, "node:sqlite") as Driver | undefined;
if (builtin) {
  const counted = withCounts(builtin);
  process.getBuiltinModule = ((name: string) =>
    name === "node:sqlite" ? counted : getBuiltinModule.call(process, name)) as never;
} else {
  const driver = require(PACKAGE) as Driver;
  // Its own exports cannot be changed; what is required from here on can.
  const module = require.cache[require.resolve(PACKAGE)];
  if (module) module.exports = withCounts(driver);
}

function withCounts(driver: Driver): Driver {
  class CountedDatabase extends driver.DatabaseSync {
    #isFull = false;

    override exec(sql: string): void {
      super.exec(sql);
      const level = LEVEL.exec(sql)?.[1];
      if (level) this.#isFull = level === "full";
      if (sql === "commit" && this.#isFull) waitForDisk();
    }
  }
  return { ...driver, DatabaseSync: CountedDatabase };
}

/** Holds the thread that committed, as the disk does. */
function waitForDisk(): void {
  // A byte for each: the length of the file is their number, whichever process looks.
  if (BENCH_SYNCS) appendFileSync(`${BENCH_SYNCS}.${process.pid}`, ".");
  if (BENCH_SYNC_MS) Atomics.wait(sleeper, 0, 0, Number(BENCH_SYNC_MS));
}
