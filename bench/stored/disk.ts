/**
 * A disk whose waits are counted, and with `BENCH_SYNC_MS` as slow as that. Loaded before a server (`--import`)
 * and by nothing else: it stands between `fdatasync` and the code that waits for the WAL with it
 * (`src/store/sqlite/wal-disk.ts`).
 *
 * Checkpoints, one for about a thousand pages, are not counted.
 */

import fs, { openSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { BENCH_SYNC_MS, BENCH_SYNCS } = process.env;

const { fdatasync } = fs;
// Opened once: its cost is part of what is measured.
const counted = BENCH_SYNCS ? openSync(`${BENCH_SYNCS}.${process.pid}`, "a") : undefined;
fs.fdatasync = ((fd: number, done: fs.NoParamCallback) => {
  // A byte for each: the length of the file is their number, whichever process looks.
  if (counted !== undefined) writeSync(counted, ".");
  const later: fs.NoParamCallback = (error) => setTimeout(done, Number(BENCH_SYNC_MS), error);
  fdatasync(fd, BENCH_SYNC_MS ? later : done);
}) as typeof fdatasync;
syncBuiltinESMExports();
