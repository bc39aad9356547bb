/** A disk that fails once: the system drops what it could not write, and calls the next wait a success. */

import assert from "node:assert/strict";
import { fdatasync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { openDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { createSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { openWalDisk } from "../../src/store/sqlite/wal-disk.ts";
import { newDatabasePath } from "./database-path.ts";
import { newRun, notices } from "./store-contract.ts";

type Flush = NonNullable<Parameters<typeof openWalDisk>[1]>;

/** Fails once when the test says so. */
function createFlush(): { readonly flush: Flush; fail: boolean } {
  const disk = {
    fail: false,
    flush: ((fd, done) => {
      const isFailing = disk.fail;
      disk.fail = false;
      if (isFailing) done(new Error("EIO: i/o error, fdatasync"));
      else fdatasync(fd, done);
    }) satisfies Flush,
  };
  return disk;
}

describe("a disk that has failed once", () => {
  it("is not believed afterwards, also by those who wait already", async () => {
    const wal = `${newDatabasePath()}-wal`;
    writeFileSync(wal, "a page");
    const disk = createFlush();
    const { sync, close } = openWalDisk(wal, disk.flush);
    await sync();
    disk.fail = true;
    const failed = [sync(), sync(), sync()];
    for (const one of failed) await assert.rejects(one, /EIO/);
    await assert.rejects(sync(), /EIO/);
    close();
  });

  it("takes no more writes of this process, and those of the next one", async () => {
    const path = newDatabasePath();
    const disk = createFlush();
    const db = await openDatabase(path, systemClock, (wal) => openWalDisk(wal, disk.flush));
    const store = createSqliteStore(db);
    await store.createRun(newRun("run_1"));
    await store.claim("run_1", "worker");
    disk.fail = true;
    const lost = { code: "store_failed", message: /EIO.*Check the disk, then start again/ };
    await assert.rejects(store.createRun(newRun("run_2")), lost);
    await assert.rejects(store.createRun(newRun("run_3")), lost);
    await assert.rejects(store.append("run_1", 1, 0, notices(1, 0)), lost);
    await assert.rejects(store.checkWritable(), lost);
    assert.equal((await store.getRun("run_1"))?.id, "run_1");
    await store.close();
    const next = createSqliteStore(await openDatabase(path));
    await next.append("run_1", 1, 0, notices(1, 0));
    await next.createRun(newRun("run_3"));
    await next.close();
  });
});
