/** A run's ending: its last events, its result, and everything that goes with it. */

import type { RunFinish } from "../journal.ts";
import { STORED_EVENTS } from "../stored-events.ts";
import { toColumn } from "../text-column.ts";
import type { Queries } from "./postgres-database.ts";
import { toNotesValue } from "./postgres-notes.ts";
import { APPEND, insertRun } from "./postgres-owned.ts";
import { settleRun } from "./postgres-spending.ts";
import { insertThings } from "./postgres-things.ts";
import * as turns from "./postgres-turns.ts";
import { writeValue } from "./postgres-values.ts";

/** Inside a transaction that holds the run's row. */
export async function writeEnd(
  tx: Queries,
  id: string,
  epoch: number,
  end: RunFinish,
): Promise<void> {
  const { firstSeq, events, things = [], starts = [] } = end;
  const batch = await writeValue(tx, id, STORED_EVENTS.write(events));
  const result = await writeValue(tx, id, end.result);
  await insertThings(tx, things);
  const notes = toNotesValue(firstSeq, events);
  const log = [firstSeq, events.length, batch.inline, batch.parts, notes];
  const bytes = result.bytes + (events.length === 0 ? 0 : batch.bytes);
  await tx.run(APPEND, toColumn(id), epoch, bytes, ...log);
  const ending = [end.ending, end.at_ms, result.inline, result.parts];
  await tx.run(
    `update offshoot.runs set status = 'ended', ending = $2, ended_at_ms = $3, result = $4,
      result_parts = $5 where id = $1`,
    ...[toColumn(id), ...ending],
  );
  await settleRun(tx, id, end.settles);
  for (const run of starts) {
    await insertRun(tx, run);
    await turns.add(tx, run.id, run.place);
  }
}
