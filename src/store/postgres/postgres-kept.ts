/** All in one Postgres database, over one pool of connections, which the first part that is asked for opens. */

import type { Audit } from "../audit.ts";
import type { Kept, Maintenance } from "../kept.ts";
import { once } from "../once.ts";
import { type Database, nameOf, openDatabase } from "./postgres-database.ts";
import { createPostgresNews, type PostgresNews } from "./postgres-news.ts";
import type { PostgresPlaces } from "./postgres-places.ts";

/** Throws `invalid_request` for what is no address. */
export function createPostgresKept(address: string): Kept {
  const name = nameOf(address);
  let db: Database | undefined;
  let news: PostgresNews | undefined;
  let audit: Audit | undefined;
  let places: PostgresPlaces | undefined;
  const connect = once(async () => {
    db = await openDatabase(address);
    return db;
  });
  const open = once(async () => {
    const { verify } = await import("./migrations.ts");
    const opened = await connect();
    await verify(opened);
    return opened;
  });
  const runs = once(async () => {
    const { createPostgresStore } = await import("./postgres-store.ts");
    const { forgetOldWorkers } = await import("./postgres-workers.ts");
    const opened = await open();
    news = createPostgresNews(opened);
    // Should it fail, the next start does it.
    forgetOldWorkers(opened).catch(() => {});
    return createPostgresStore(opened, news);
  });
  return {
    record: runs,
    index: once(async () =>
      (await import("./postgres-index.ts")).createPostgresIndex(await open()),
    ),
    state: once(async () =>
      (await import("./postgres-state.ts")).createPostgresState(await open()),
    ),
    runs,
    shelf: once(async () =>
      (await import("./postgres-shelf.ts")).createPostgresShelf(await open()),
    ),
    chunks: once(async () =>
      (await import("./postgres-chunks.ts")).createPostgresChunks(await open()),
    ),
    spending: once(async () =>
      (await import("./postgres-spending.ts")).createPostgresSpending(await open()),
    ),
    audit: once(async () => {
      audit = (await import("./postgres-audit.ts")).createPostgresAudit(await open());
      return audit;
    }),
    places: once(async () => {
      places = (await import("./postgres-places.ts")).createPostgresPlaces(await open());
      return places;
    }),
    limits: once(async () =>
      (await import("./postgres-limits.ts")).createPostgresLimits(await open()),
    ),
    maintenance: createMaintenance(name, { connect, open }),
    async close() {
      const [waiting, told, counted, opened] = [audit, news, places, db];
      audit = undefined;
      news = undefined;
      places = undefined;
      db = undefined;
      await waiting?.close();
      await counted?.close();
      await told?.close();
      await opened?.close();
    },
  };
}

interface Opening {
  /** Looks at no table. */
  connect(): Promise<Database>;
  open(): Promise<Database>;
}

function createMaintenance(name: string, { connect, open }: Opening): Maintenance {
  const load = () => import("./maintenance.ts");
  return {
    exists: async () => (await (await import("./migrations.ts")).readVersion(await connect())) > 0,
    probe: async () => void (await (await connect()).get("select 1")),
    async version() {
      return String((await (await connect()).get("show server_version"))?.["server_version"]);
    },
    // Postgres checks its own pages; that the tables are ours is seen by opening them.
    refuseDamaged: async () => (await open()) !== undefined,
    checkBeside: async () => undefined,
    check: async () => (await load()).checkStore(await open()),
    backUp: async () => (await load()).refuseBackUp(name),
    vacuum: async () => (await load()).vacuumStore(await open()),
    migrate: async () => (await load()).migrateStore(await connect()),
    copyTo: async () => (await load()).refuseCopy(name),
  };
}
