/**
 * Runs in a Postgres database; the tables are in `migrations.ts`. Every write checks the owner's epoch in the
 * statement or the transaction that makes it. What happens most, an append and a step, is one statement: one
 * round trip and one commit.
 *
 * A write whose connection is cut may be there or not. It is tried again, and refused if it is there; whoever
 * holds the epoch is the only writer, so a refusal of that kind says that it is done (`isDone`).
 */

import { Failure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import type { RunQuery, RunRecord, RunStatus } from "../../protocol/run-record.ts";
import { toRefusal, toRepeatedStep, toUnknownRun } from "../refusal.ts";
import type {
  FinishedStep,
  FoundSignal,
  NewRun,
  News,
  RunFinish,
  Store,
  UnfinishedRun,
  Worker,
} from "../store.ts";
import { takenKey } from "../taken-key.ts";
import { fromColumn, fromNullable, toColumn, toNullable } from "../text-column.ts";
import type { NewPlace, Queue, QueuePlace, TakenTurn } from "../turns.ts";
import type { Database, Queries, Reads } from "./postgres-database.ts";
import type { SqlRow } from "./postgres-driver.ts";
import { readEventRows } from "./postgres-events.ts";
import { faultOf } from "./postgres-fault.ts";
import type { PostgresNews } from "./postgres-news.ts";
import { toRunQuery } from "./postgres-run-query.ts";
import * as signals from "./postgres-signals.ts";
import { DELETE_TREE, insertThings } from "./postgres-things.ts";
import * as turns from "./postgres-turns.ts";
import {
  isParted,
  readSized,
  STATUS_COLUMNS,
  toRun,
  toRunStatus,
  type Written,
  writeInline,
  writeValue,
} from "./postgres-values.ts";

/** The caller closes the database; `close` says farewell to those who listen. */
export function createPostgresStore(db: Database, news: PostgresNews): Store {
  return new PostgresStore(db, news);
}

const ALL = Number.MAX_SAFE_INTEGER;
/** What `checkWritable` writes: more than most responses take, so that there is room for one. */
const PROBE_BYTES = 64 * 1024;

/** What a run's owner believes about it. */
interface Belief {
  readonly id: string;
  readonly epoch: number;
  readonly firstSeq?: number | undefined;
  /** How many events it writes. */
  readonly count?: number | undefined;
}

class PostgresStore implements Store {
  readonly #db: Database;
  readonly #news: PostgresNews;

  constructor(db: Database, news: PostgresNews) {
    this.#db = db;
    this.#news = news;
  }

  get news(): News {
    return this.#news;
  }

  async createRun(run: NewRun): Promise<boolean> {
    return (await this.#create(run, undefined)) === "new";
  }

  async createQueued(run: NewRun, place: NewPlace): Promise<"new" | "known" | "full"> {
    return await this.#create(run, place);
  }

  async awaitTurn(id: string, epoch: number, place: QueuePlace): Promise<boolean> {
    return await this.#db.transact(async (tx) => {
      await turns.lockQueue(tx, place.queue);
      await checkOwner(tx, { id, epoch });
      return await turns.awaitTurn(tx, id, place);
    });
  }

  async giveTurnBack(id: string, epoch: number): Promise<void> {
    await this.#db.transact(async (tx) => {
      await checkOwner(tx, { id, epoch });
      await turns.giveBack(tx, id);
    });
  }

  async countWaiting(queue: string): Promise<number> {
    return await turns.countWaiting(this.#db, queue);
  }

  async takeTurn(owner: string, queue: Queue): Promise<TakenTurn | undefined> {
    return await this.#db.transact(async (tx) => {
      await turns.lockQueue(tx, queue.queue);
      return await turns.take(tx, owner, queue);
    });
  }

  async getRun(id: string): Promise<RunRecord | undefined> {
    const row = await this.#db.get("select * from offshoot.runs where id = $1", toColumn(id));
    return row && (await toRun(this.#db, row));
  }

  async getRunStatus(id: string): Promise<RunStatus | undefined> {
    const sql = `select ${STATUS_COLUMNS} from offshoot.runs where id = $1`;
    const row = await this.#db.get(sql, toColumn(id));
    return row && toRunStatus(row);
  }

  async listRuns(query: RunQuery): Promise<RunRecord[]> {
    const { sql, values } = await toRunQuery(this.#db, query);
    const found: RunRecord[] = [];
    for (const row of await this.#db.all(sql, ...values)) {
      const run = await toRun(this.#db, row);
      if (run) found.push(run);
    }
    return found;
  }

  async listUnfinished(): Promise<UnfinishedRun[]> {
    const sql = `select id, parent_id, name, owner, epoch, created_at_ms from offshoot.runs
      where status = 'running' order by created_at_ms, number`;
    return (await this.#db.all(sql)).map((row) => ({
      id: fromColumn(row["id"]),
      parent_id: fromNullable(row["parent_id"]),
      name: fromColumn(row["name"]),
      owner: fromNullable(row["owner"]),
      epoch: Number(row["epoch"]),
      created_at_ms: Number(row["created_at_ms"]),
    }));
  }

  async claim(id: string, owner: string, from?: number): Promise<number | undefined> {
    const sql = `update offshoot.runs set epoch = epoch + 1, owner = $1
      where id = $2 and status = 'running' and epoch = coalesce($3::bigint, epoch) returning epoch`;
    return await this.#db.write(async (queries, isRetry) => {
      const row = await queries.get(sql, toColumn(owner), toColumn(id), from ?? null);
      if (row) return Number(row["epoch"]);
      const now = await queries.get(
        "select epoch, owner, status from offshoot.runs where id = $1",
        toColumn(id),
      );
      if (!now) throw toUnknownRun(id);
      const isOurs =
        isRetry && from !== undefined && now["epoch"] === from + 1 && now["owner"] === owner;
      return isOurs && now["status"] === "running" ? from + 1 : undefined;
    });
  }

  async readSteps(id: string): Promise<Map<string, Json>> {
    const sql = "select key, value, value_parts from offshoot.steps where run_id = $1";
    const steps = new Map<string, Json>();
    for (const row of await this.#db.all(sql, toColumn(id))) {
      const read = await readSized(this.#db, id, row, "value");
      if (read) steps.set(fromColumn(row["key"]), read.value);
    }
    return steps;
  }

  async saveStep(id: string, epoch: number, { key, value, last }: FinishedStep): Promise<void> {
    const events = (last?.events ?? []) as unknown as Json;
    const belief = { id, epoch, firstSeq: last?.firstSeq, count: last?.events.length ?? 0 };
    await this.#writeOwned(belief, [value, events], async (queries, [step, batch], isRetry) => {
      const values = [toColumn(id), epoch, toColumn(key), step.inline, step.parts];
      const bytes = step.bytes + (belief.count > 0 ? batch.bytes : 0);
      try {
        const log = [last?.firstSeq ?? null, belief.count, batch.inline, batch.parts];
        return await queries.run(belief.count > 0 ? STEP_WITH_EVENTS : STEP, ...values, bytes, ...log);
      } catch (thrown) {
        if (!isRepeated(thrown)) throw thrown;
        // The owner is checked first: one of the past must not hear of a step that is there already.
        await checkOwner(this.#db, isRetry ? { id, epoch } : belief);
        if (isRetry && (await this.#hasStep(id, epoch, key))) return 1;
        throw toRepeatedStep(id, key);
      }
    });
  }

  async append(
    id: string,
    epoch: number,
    firstSeq: number,
    events: readonly RunEvent[],
  ): Promise<void> {
    const belief = { id, epoch, firstSeq, count: events.length };
    await this.#writeOwned(belief, [events as unknown as Json], async (queries, [batch]) => {
      const log = [firstSeq, events.length, batch.inline, batch.parts];
      const bytes = events.length === 0 ? 0 : batch.bytes;
      return await queries.run(APPEND, toColumn(id), epoch, bytes, ...log);
    });
  }

  async readEvents(id: string, after: number, limit: number): Promise<LoggedEvent[]> {
    return await readEventRows(this.#db, id, after, limit);
  }

  async finish(id: string, epoch: number, end: RunFinish): Promise<void> {
    const { firstSeq, events, things = [] } = end;
    const belief = { id, epoch, firstSeq, count: events.length };
    await this.#db.transact(async (tx, isRetry) => {
      if (isRetry && (await isFinished(tx, belief))) return;
      await tx.run("select 1 from offshoot.runs where id = $1 for update", toColumn(id));
      await checkOwner(tx, belief);
      const batch = await writeValue(tx, id, events as unknown as Json);
      const result = await writeValue(tx, id, end.result);
      await insertThings(tx, things);
      const log = [firstSeq, events.length, batch.inline, batch.parts];
      const bytes = result.bytes + (events.length === 0 ? 0 : batch.bytes);
      await tx.run(APPEND, toColumn(id), epoch, bytes, ...log);
      const ending = [end.ending, end.at_ms, result.inline, result.parts];
      await tx.run(
        `update offshoot.runs set status = 'ended', ending = $2, ended_at_ms = $3, result = $4,
          result_parts = $5 where id = $1`,
        ...[toColumn(id), ...ending],
      );
    });
    this.#news.tell(id);
  }

  async putSignal(id: string, signal: { topic: string; key: string; body: Json }): Promise<void> {
    await this.#db.transact(async (tx) => {
      const sql = "select 1 from offshoot.runs where id = $1 for key share";
      if (!(await tx.get(sql, toColumn(id)))) throw toUnknownRun(id);
      await signals.put(tx, id, signal);
    });
    this.#news.tell(id);
  }

  async takeSignal(id: string, epoch: number, topic: string): Promise<Json | undefined> {
    // Asked again and again, mostly in vain: a look takes no lock. Who may not write finds that out here too.
    if (!(await signals.hasAny(this.#db, id, topic))) {
      await checkOwner(this.#db, { id, epoch });
      return undefined;
    }
    return await this.#db.transact(async (tx) => {
      await lockOwned(tx, { id, epoch });
      const key = takenKey(topic, await signals.countTaken(tx, id, topic));
      const [value] = await signals.take(tx, id, topic, 1);
      if (value !== undefined) await insertStep(tx, { id, epoch }, key, value);
      return value;
    });
  }

  async takeSignals(
    id: string,
    epoch: number,
    { topic, key }: { topic: string; key: string },
  ): Promise<Json[]> {
    if (!(await signals.hasAny(this.#db, id, topic))) return [];
    return await this.#db.transact(async (tx) => {
      await lockOwned(tx, { id, epoch });
      const value = await signals.take(tx, id, topic, ALL);
      await insertStep(tx, { id, epoch }, key, value);
      return value;
    });
  }

  async findSignals(owner: string, topic: string): Promise<FoundSignal[]> {
    return await signals.find(this.#db, owner, topic);
  }

  /** Written to the log of the database, which keeps nothing of it. */
  async checkWritable(): Promise<void> {
    const sql = "select pg_logical_emit_message(false, 'offshoot', repeat('x', $1))";
    await this.#db.write(({ get }) => get(sql, PROBE_BYTES));
  }

  async beat(worker: Worker): Promise<void> {
    const { id, host, pid, boot, pid_namespace, started, beat_at_ms, beat_ms } = worker;
    const sql = `insert into offshoot.workers
      (id, host, pid, boot, pid_namespace, started, beat_at_ms, beat_ms)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (id) do update set host = excluded.host, pid = excluded.pid, boot = excluded.boot,
        pid_namespace = excluded.pid_namespace, started = excluded.started,
        beat_at_ms = excluded.beat_at_ms, beat_ms = excluded.beat_ms, beaten_at = clock_timestamp()`;
    const about = [toColumn(id), toColumn(host), pid, boot, pid_namespace, started];
    await this.#db.write(({ run }) => run(sql, ...about, beat_at_ms, beat_ms));
  }

  async getWorker(id: string): Promise<Worker | undefined> {
    const sql = `select *, extract(epoch from clock_timestamp() - beaten_at) * 1000 as silent_ms
      from offshoot.workers where id = $1`;
    const row = await this.#db.get(sql, toColumn(id));
    if (!row) return undefined;
    const text = (name: string): string => String(row[name]);
    const number = (name: string): number => Number(row[name]);
    return {
      ...{ id, host: fromColumn(row["host"]), pid: number("pid") },
      ...{ boot: text("boot"), pid_namespace: text("pid_namespace"), started: text("started") },
      ...{ beat_at_ms: number("beat_at_ms"), beat_ms: number("beat_ms") },
      silent_ms: number("silent_ms"),
    };
  }

  async deleteRun(id: string): Promise<void> {
    // The other tables follow by their foreign keys.
    await this.#db.write(({ run }) => run("delete from offshoot.runs where id = $1", toColumn(id)));
    this.#news.tell(id);
  }

  async deleteTree(id: string): Promise<void> {
    await this.#db.write(({ run }) => run(DELETE_TREE, toColumn(id)));
    this.#news.tell(id);
  }

  async close(): Promise<void> {
    await this.#news.close();
    await this.#db.close();
  }

  async #create(run: NewRun, place: NewPlace | undefined): Promise<"new" | "known" | "full"> {
    return await this.#db.transact(async (tx, isRetry) => {
      if (place) await turns.lockQueue(tx, place.queue);
      const known = await tx.get(
        "select owner, created_at_ms from offshoot.runs where id = $1",
        toColumn(run.id),
      );
      if (known) return isRetry && isOwn(known, run) ? "new" : "known";
      if (place && (await turns.isFull(tx, place))) return "full";
      if (!(await insertRun(tx, run))) return "known";
      if (place) await turns.add(tx, run.id, place);
      return "new";
    });
  }

  /** One statement where no value is large. `write` gives how many rows it changed: none is a refusal. */
  async #writeOwned<Values extends readonly Json[]>(
    belief: Belief,
    values: readonly [...Values],
    write: (
      queries: Queries,
      written: { readonly [At in keyof Values]: Written },
      isRetry: boolean,
    ) => Promise<number>,
  ): Promise<void> {
    const attempt = async (queries: Queries, isRetry: boolean): Promise<void> => {
      const isInline = !values.some(isParted);
      if (!isInline) await lockOwned(queries, belief);
      const written: Written[] = [];
      for (const value of values) {
        written.push(isInline ? writeInline(value) : await writeValue(queries, belief.id, value));
      }
      const typed = written as unknown as { readonly [At in keyof Values]: Written };
      if ((await write(queries, typed, isRetry)) > 0) return;
      const refusal = toRefusal(await readCurrent(queries, belief.id), belief);
      if (refusal && !(isRetry && (await isAppended(queries, belief)))) throw refusal;
    };
    if (values.some(isParted)) await this.#db.transact(attempt);
    else await this.#db.write(attempt);
    this.#news.tell(belief.id);
  }

  async #hasStep(id: string, epoch: number, key: string): Promise<boolean> {
    const sql = "select 1 from offshoot.steps where run_id = $1 and epoch = $2 and key = $3";
    return (await this.#db.get(sql, toColumn(id), epoch, toColumn(key))) !== undefined;
  }
}

/** The right to write, and the counting, of every statement that an owner makes. */
const OWNED = `update offshoot.runs set bytes = bytes + `;

const APPEND = `with owned as (${OWNED} $3, next_seq = next_seq + $5
    where id = $1 and epoch = $2 and status = 'running' and next_seq = $4 returning id),
  logged as (insert into offshoot.events (run_id, first_seq, count, epoch, body, body_parts)
    select id, $4, $5, $2, $6, $7 from owned where $5 > 0)
  select 1 from owned`;

const STEP = `with owned as (${OWNED} $6
    where id = $1 and epoch = $2 and status = 'running'
      and ($7::bigint is null or next_seq = $7) and $8::int = 0 and $9::text is not null
      and $10::text is null returning id)
  insert into offshoot.steps (run_id, key, epoch, value, value_parts)
    select id, $3, $2, $4, $5 from owned`;

const STEP_WITH_EVENTS = `with owned as (${OWNED} $6, next_seq = next_seq + $8
    where id = $1 and epoch = $2 and status = 'running' and next_seq = $7 returning id),
  logged as (insert into offshoot.events (run_id, first_seq, count, epoch, body, body_parts)
    select id, $7, $8, $2, $9, $10 from owned)
  insert into offshoot.steps (run_id, key, epoch, value, value_parts)
    select id, $3, $2, $4, $5 from owned`;

function isRepeated(thrown: unknown): boolean {
  return thrown instanceof Failure && faultOf(thrown.cause) === "repeated";
}

/** A run that a write before this one has put there, whose answer was lost. */
function isOwn(row: SqlRow, { owner = null, created_at_ms }: NewRun): boolean {
  return fromNullable(row["owner"]) === owner && row["created_at_ms"] === created_at_ms;
}

async function insertRun(tx: Queries, run: NewRun): Promise<boolean> {
  const id = toColumn(run.id);
  const parent = toNullable(run.parent_id);
  const owner = toNullable(run.owner ?? null);
  const text = [run.path, run.name, run.title].map(toColumn);
  const inserted = await tx.run(
    `insert into offshoot.runs (id, parent_id, path, name, title, created_at_ms, owner, epoch, tenant)
      values ($1, $2, $3, $4, $5, $6, $7, $8,
        coalesce($9::text, (select tenant from offshoot.runs where id = $2)))
      on conflict do nothing`,
    ...[id, parent, ...text, run.created_at_ms, owner, owner === null ? 0 : 1],
    toNullable(run.tenant ?? null),
  );
  if (inserted === 0) return false;
  await insertThings(tx, run.things ?? []);
  const input = await writeValue(tx, run.id, run.input);
  await tx.run(
    "update offshoot.runs set input = $2, input_parts = $3, bytes = bytes + $4 where id = $1",
    ...[id, input.inline, input.parts, input.bytes],
  );
  return true;
}

/** Inside a transaction that holds the run's row. */
async function insertStep(
  tx: Queries,
  { id, epoch }: Belief,
  key: string,
  value: Json,
): Promise<void> {
  const { inline, parts, bytes } = await writeValue(tx, id, value);
  const values = [toColumn(id), epoch, toColumn(key), inline, parts, bytes];
  await tx.run(STEP, ...values, null, 0, "", null);
}

/** Nobody claims, ends or appends to it before the transaction is over. */
async function lockOwned(tx: Queries, belief: Belief): Promise<void> {
  await tx.get("select 1 from offshoot.runs where id = $1 for update", toColumn(belief.id));
  await checkOwner(tx, { id: belief.id, epoch: belief.epoch });
}

async function checkOwner(db: Reads, belief: Belief): Promise<void> {
  const refusal = toRefusal(await readCurrent(db, belief.id), belief);
  if (refusal) throw refusal;
}

type Current = Pick<RunRecord, "epoch" | "status" | "next_seq">;

async function readCurrent(db: Reads, id: string): Promise<Current | undefined> {
  const sql = "select epoch, status, next_seq from offshoot.runs where id = $1";
  const row = await db.get(sql, toColumn(id));
  if (!row) return undefined;
  const status = row["status"] as RunRecord["status"];
  return { epoch: Number(row["epoch"]), status, next_seq: Number(row["next_seq"]) };
}

/** Whether events that may have been written were: nobody else writes with this epoch. */
async function isAppended(db: Reads, { id, epoch, firstSeq, count = 0 }: Belief): Promise<boolean> {
  const now = await readCurrent(db, id);
  if (!now || firstSeq === undefined || count === 0) return false;
  return now.epoch === epoch && now.next_seq === firstSeq + count;
}

async function isFinished(db: Reads, belief: Belief): Promise<boolean> {
  const now = await readCurrent(db, belief.id);
  return now?.status === "ended" && now.epoch === belief.epoch;
}
