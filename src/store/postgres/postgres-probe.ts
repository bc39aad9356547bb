/** Checks whether a run could be written down now: the database answers, has room, and lets the user write. */

import { systemClock } from "../../base/clock.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { toRefused, toSilent } from "./postgres-fault.ts";

/** The size of the write of the check: more than most responses take, so that there is room for one. */
const PROBE_BYTES = 64 * 1024;
/** Writes to the log of the database only, and names a table that the user may not write to. */
const PROBE = `select pg_logical_emit_message(false, 'offshoot', repeat('x', $1)),
  (select min(relname::text) from pg_class where relnamespace = 'offshoot'::regnamespace
    and relkind = 'r' and relname <> 'version' and not has_table_privilege(oid, 'insert')) as lacking`;
/** A caller that checks whether it can write wants to know soon. */
const PROBE_MS = 500;
/** A database that keeps its connections open and says nothing, as after the loss of a network, is away too. */
const SILENCE_MS = 1500;

/** Rejects with the reason. */
export function createWriteProbe(db: PostgresDatabase): () => Promise<void> {
  /** The check that has no answer yet: all callers wait for the same. */
  let probing: Promise<void> | undefined;
  return async () => {
    if (db.full) throw db.full;
    probing ??= probe(db).finally(() => {
      probing = undefined;
    });
    const answered = new AbortController();
    const silence = systemClock.sleep(SILENCE_MS, answered.signal).then(
      () => Promise.reject(toSilent(db.name)),
      () => {},
    );
    await Promise.race([probing, silence]).finally(() => answered.abort());
  };
}

async function probe(db: PostgresDatabase): Promise<void> {
  const row = await db.write(({ get }) => get(PROBE, PROBE_BYTES), PROBE_MS);
  const lacking = row?.["lacking"];
  if (lacking) throw toRefused(db.name, `permission denied for table ${lacking}`);
}
