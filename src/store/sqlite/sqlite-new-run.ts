import type { NewRun } from "../journal.ts";
import { JOURNAL_VERSION } from "../journal-version.ts";
import { firstEpoch } from "../new-run.ts";
import { toUnknownThing } from "../refusal.ts";
import { toColumn, toNullable } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { noteRun } from "./sqlite-notes.ts";
import { insertAll, NAMED, toNamed } from "./sqlite-things.ts";
import { type ReadyValue, writeValue } from "./sqlite-values.ts";

/** Inside a transaction, which is undone if it throws. `bodies` are those of the run's things. */
export function insertRun(
  db: SqliteDatabase,
  run: NewRun,
  ready: ReadyValue = "null",
  bodies: readonly ReadyValue[] = [],
): void {
  for (const name of run.needs ?? []) {
    const isThere = db.get(`select 1 from things where ${NAMED}`, ...toNamed(name)) !== undefined;
    if (!isThere) throw toUnknownThing(name);
  }
  const id = toColumn(run.id);
  const parent = toNullable(run.parent_id);
  const text = [run.path, run.name, run.title].map(toColumn);
  const owner = toNullable(run.owner ?? null);
  db.run(
    `insert into runs (id, parent_id, path, name, title, created_at_ms, owner, epoch, journal, tenant)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, (select tenant from runs where id = ?)))`,
    ...[id, parent, ...text, run.created_at_ms, owner, firstEpoch(run)],
    run.journal ?? JOURNAL_VERSION,
    ...[toNullable(run.tenant ?? null), parent],
  );
  insertAll(db, run.things ?? [], bodies);
  // The blob refers to the run, so the run must be there first.
  const input = writeValue(db, id, ready);
  db.run(
    "update runs set input = ?, input_blob = ?, bytes = bytes + ? where id = ?",
    ...[input.inline, input.blob, input.bytes, id],
  );
  const step = "insert into steps (run_id, key, epoch, value) values (?, ?, ?, ?)";
  for (const { key, value } of run.steps ?? []) {
    db.run(step, id, toColumn(key), firstEpoch(run), JSON.stringify(value));
  }
  noteRun(db.run, run);
}
