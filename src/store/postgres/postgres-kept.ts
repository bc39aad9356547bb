/** Everything in one Postgres database, over one pool of connections, which the first part that is asked for opens. */

import type { Audit } from "../audit.ts";
import type { KeptRecord, Maintenance } from "../kept.ts";
import { once } from "../once.ts";
import type { PostgresClock } from "./postgres-clock.ts";
import {
  MAINTENANCE_MS,
  nameOf,
  openDatabase,
  type PostgresDatabase,
} from "./postgres-database.ts";
import { createPostgresNews, type PostgresNews } from "./postgres-news.ts";
import type { PostgresPlaces } from "./postgres-places.ts";

/** Throws `invalid_request` for an invalid address. */
export function createPostgresKept(address: string): KeptRecord {
  const name = nameOf(address);
  const { connect, close } = createConnection(address);
  const patient = createConnection(address, MAINTENANCE_MS);
  let news: PostgresNews | undefined;
  let audit: Audit | undefined;
  let places: PostgresPlaces | undefined;
  let clock: PostgresClock | undefined;
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
    // If it fails, the next start does it.
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
    clock: once(async () => {
      clock = await (await import("./postgres-clock.ts")).openPostgresClock(await open());
      return clock;
    }),
    places: once(async () => {
      places = (await import("./postgres-places.ts")).createPostgresPlaces(await open());
      return places;
    }),
    limits: once(async () =>
      (await import("./postgres-limits.ts")).createPostgresLimits(await open()),
    ),
    maintenance: createMaintenance(name, { connect, open, patient }),
    close: once(async () => {
      await audit?.close();
      await places?.close();
      await news?.close();
      clock?.close();
      await patient.close();
      await close();
    }),
  };
}

/** Opened by the first call. `statementMs`: how long a statement may take, if not as long as usual. */
function createConnection(address: string, statementMs?: number) {
  let db: PostgresDatabase | undefined;
  return {
    connect: once(async () => {
      db = await openDatabase(address, { statementMs });
      return db;
    }),
    close: async () => await db?.close(),
  };
}

interface Opening {
  /** Reads no table. */
  connect(): Promise<PostgresDatabase>;
  open(): Promise<PostgresDatabase>;
  /** Like `connect`, for statements that read or write all of it. */
  readonly patient: { connect(): Promise<PostgresDatabase> };
}

function createMaintenance(name: string, { connect, open, patient }: Opening): Maintenance {
  const load = () => import("./maintenance.ts");
  const openPatiently = async (): Promise<PostgresDatabase> => {
    await open();
    return await patient.connect();
  };
  return {
    exists: async () => (await (await import("./migrations.ts")).readVersion(await connect())) > 0,
    probe: async () => void (await (await connect()).get("select 1")),
    async version() {
      return String((await (await connect()).get("show server_version"))?.["server_version"]);
    },
    // Postgres checks its own pages; opening the tables shows that they are ours.
    refuseDamaged: async () => (await open()) !== undefined,
    checkWritable: async () =>
      await (await import("./postgres-probe.ts")).createWriteProbe(await open())(),
    checkBeside: async () => undefined,
    check: async () => (await load()).checkStore(await openPatiently()),
    backUp: async () => (await load()).refuseBackUp(name),
    vacuum: async () => (await load()).vacuumStore(await openPatiently()),
    migrate: async () => (await load()).migrateStore(await patient.connect()),
    copyTo: async () => (await load()).refuseCopy(name),
  };
}
