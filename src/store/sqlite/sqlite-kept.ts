/** All in one SQLite file, over one connection, which the first part that is asked for opens. */

import { statSync } from "node:fs";
import { systemClock } from "../../base/clock.ts";
import type { Audit } from "../audit.ts";
import type { KeptRecord, Maintenance } from "../kept.ts";
import { once } from "../once.ts";
import { openDatabase, type SqliteDatabase } from "./sqlite-database.ts";
import { openConnection } from "./sqlite-driver.ts";

export function createSqliteKept(path: string): KeptRecord {
  let db: SqliteDatabase | undefined;
  let audit: Audit | undefined;
  const open = once(async () => {
    db = await openDatabase(path);
    return db;
  });
  const runs = once(async () => {
    const [{ createSqliteStore }, opened] = await Promise.all([
      import("./sqlite-store.ts"),
      open(),
    ]);
    return createSqliteStore(opened);
  });
  return {
    record: runs,
    index: once(async () => (await import("./sqlite-index.ts")).createSqliteIndex(await open())),
    state: once(async () => (await import("./sqlite-state.ts")).createSqliteState(await open())),
    runs,
    shelf: once(async () => (await import("./sqlite-shelf.ts")).createSqliteShelf(await open())),
    chunks: once(async () => (await import("./sqlite-chunks.ts")).createSqliteChunks(await open())),
    spending: once(async () =>
      (await import("./sqlite-spending.ts")).createSqliteSpending(await open()),
    ),
    audit: once(async () => {
      audit = (await import("./sqlite-audit.ts")).createSqliteAudit(await open());
      return audit;
    }),
    clock: async () => systemClock,
    places: async () => undefined,
    limits: async () => undefined,
    maintenance: createMaintenance(path, open),
    async close() {
      const waiting = audit;
      const opened = db;
      audit = undefined;
      db = undefined;
      await waiting?.close();
      opened?.close();
    },
  };
}

function createMaintenance(path: string, open: () => Promise<SqliteDatabase>): Maintenance {
  const load = () => import("./maintenance.ts");
  return {
    exists: async () => statSync(path, { throwIfNoEntry: false }) !== undefined,
    probe: async () => {
      const connection = await openConnection(path);
      try {
        connection.prepare("select count(*) from sqlite_schema").get();
      } finally {
        connection.close();
      }
    },
    async version() {
      const connection = await openConnection(":memory:");
      try {
        return String(connection.prepare("select sqlite_version() as version").get()?.["version"]);
      } finally {
        connection.close();
      }
    },
    refuseDamaged: async (maxBytes) => (await load()).refuseDamaged(path, await open(), maxBytes),
    checkWritable: async () => (await open()).transact(() => {}),
    checkBeside: async (signal) => (await import("./check-beside.ts")).checkBeside(path, signal),
    check: async () => (await load()).checkStore(path),
    backUp: async (target) => (await load()).backUpStore(path, target),
    vacuum: async () => (await load()).vacuumStore(path),
    migrate: async () => (await load()).migrateStore(path),
    copyTo: async (target, options) =>
      (await import("../copy/copy-record.ts")).copyRecord(path, target, options),
  };
}
