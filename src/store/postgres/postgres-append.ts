/**
 * Appends to the logs of many runs, in one statement: the tokens of all streams of a process. The statement checks the
 * owner of each run, as `APPEND` does for one.
 */

import { Failure } from "../../base/failure.ts";
import { toRefusal } from "../refusal.ts";
import { fromColumn, toColumn } from "../text-column.ts";
import { createBatches } from "./postgres-batches.ts";
import type { PostgresDatabase, Queries } from "./postgres-database.ts";
import { type Belief, isAppended, readCurrent } from "./postgres-owned.ts";
import type { Written } from "./postgres-values.ts";

/** Events without notes, of a run whose next append waits for this one. */
export interface PlainAppend {
  readonly belief: Required<Belief>;
  readonly log: Written;
}

const MOST_BYTES = 1024 * 1024;
/** What a row takes beside its events. */
const ROW_BYTES = 200;

export type AppendPlain = (append: PlainAppend) => Promise<void>;

export function createAppender(db: PostgresDatabase): AppendPlain {
  return createBatches<PlainAppend, void>({
    mostBytes: MOST_BYTES,
    sizeOf: ({ log }) => ROW_BYTES + log.bytes,
    write: (appends, onRetry) =>
      db.write((queries, isRetry) => {
        if (isRetry) onRetry();
        return writeAll(queries, appends, isRetry);
      }),
    async alone(append, mayBeWritten) {
      const [written] = await db.write((queries, isRetry) =>
        writeAll(queries, [append], mayBeWritten || isRetry),
      );
      await written;
    },
  });
}

async function writeAll(
  queries: Queries,
  appends: readonly PlainAppend[],
  isRetry: boolean,
): Promise<Promise<void>[]> {
  const rows = appends.map(({ belief: { id, epoch, firstSeq, count }, log }) => ({
    id: toColumn(id),
    epoch,
    first_seq: firstSeq,
    count,
    body: log.inline,
    bytes: log.bytes,
  }));
  const appended = await queries.all(APPEND_ALL, JSON.stringify(rows));
  const done = new Set(appended.map(({ id }) => fromColumn(id)));
  const settled: Promise<void>[] = [];
  for (const { belief } of appends) {
    const isDone = done.has(belief.id) || (isRetry && (await isAppended(queries, belief)));
    settled.push(isDone ? Promise.resolve() : Promise.reject(await toReason(queries, belief)));
    // Its caller learns it later than this loop ends.
    settled.at(-1)?.catch(() => {});
  }
  return settled;
}

async function toReason(queries: Queries, belief: Belief): Promise<Failure> {
  const refusal = toRefusal(await readCurrent(queries, belief.id), belief);
  return refusal ?? new Failure("internal", `Events of run ${belief.id} were not written.`);
}

const APPEND_ALL = `with given as (
    select * from json_to_recordset($1::json) as g (id text, epoch bigint, first_seq bigint,
      count integer, body text, bytes bigint)),
  owned as (
    update offshoot.runs r set bytes = r.bytes + g.bytes, next_seq = r.next_seq + g.count
      from given g where r.id = g.id collate "C" and r.epoch = g.epoch and r.status = 'running'
        and r.next_seq = g.first_seq
      returning r.id, g.first_seq, g.count, g.epoch, g.body),
  logged as (
    insert into offshoot.events (run_id, first_seq, count, epoch, body)
      select id, first_seq, count, epoch, body from owned)
  select id from owned`;
