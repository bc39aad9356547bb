/** The places that responses can be stored in: what a server needs for each, and what can be measured of it. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openConnection } from "../../src/store/sqlite/sqlite-driver.ts";
import { openPostgresStore } from "./postgres.ts";

export interface StoreOptions {
  /** The home of the server. */
  readonly folder: string;
  /** How much longer than on this machine a wait for the disk takes. */
  readonly syncMs: number;
}

export interface OpenStore {
  /** The server's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly execArgv: readonly string[];
  /** Its size in bytes now. */
  sizeOf(): Promise<number>;
  /** Gives back the room of old versions of rows, so that the size is that of what is kept. */
  compact(): Promise<void>;
  /** Waits for the disk since its start. */
  syncs(): number;
  /** What a database in a process of its own has used; undefined for a database in the server's process. */
  readUse(): Promise<DatabaseUse | undefined>;
  close(): Promise<void>;
}

/** Since its start, except for the connections. */
export interface DatabaseUse {
  readonly cpuMs: number;
  readonly transactions: number;
  readonly walBytes: number;
  readonly bytes: number;
  readonly connections: number;
}

export const STORES: Readonly<Record<string, (options: StoreOptions) => Promise<OpenStore>>> = {
  sqlite: openSqliteStore,
  postgres: openPostgresStore,
};

const SYNCS = "syncs";

async function openSqliteStore({ folder, syncMs }: StoreOptions): Promise<OpenStore> {
  const slow: Record<string, string> = syncMs > 0 ? { BENCH_SYNC_MS: String(syncMs) } : {};
  return {
    env: { BENCH_SYNCS: join(folder, SYNCS), ...slow },
    execArgv: ["--import", new URL("./disk.js", import.meta.url).href],
    async sizeOf() {
      const db = await openConnection(join(folder, ".local", "share", "offshoot", "runs.db"));
      const read = (name: string): number => Number(db.prepare(`pragma ${name}`).get()?.[name]);
      const size = read("page_count") * read("page_size");
      db.close();
      return size;
    },
    syncs() {
      const files = readdirSync(folder).filter((name) => name.startsWith(`${SYNCS}.`));
      return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    },
    compact: async () => {},
    readUse: async () => undefined,
    close: async () => {},
  };
}
