/**
 * Runs in a Postgres database; the tables are in `tables.ts`. Every write checks the owner's epoch in the
 * statement or the transaction that makes it. What happens most, an append and a step, is one statement: one
 * round trip and one commit.
 *
 * If the connection is lost, a write may have succeeded or not. It is tried again, and refused if it is there; the
 * holder of the epoch is the only writer, so a refusal of that kind means that it is done (`isDone`).
 */

import type { Json } from "../../base/json.ts";
import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import type { RunQuery, RunRecord, RunStatus } from "../../protocol/run-record.ts";
import type { FinishedStep, NewRun, RunFinish } from "../journal.ts";
import { JOURNAL_VERSION } from "../journal-version.ts";
import type { FoundSignal } from "../mailbox.ts";
import type { Worker } from "../ownership.ts";
import { toRefusal, toUnknownRun } from "../refusal.ts";
import type { UnfinishedRun } from "../run-reader.ts";
import type { Store, StoreNews } from "../store.ts";
import { STORED_EVENTS } from "../stored-events.ts";
import { takenKey } from "../taken-key.ts";
import { fromColumn, fromNullable, toColumn } from "../text-column.ts";
import type { NewPlace, Queue, QueuePlace, TakenTurn } from "../turns.ts";
import { type AppendPlain, createAppender } from "./postgres-append.ts";
import type { PostgresDatabase, Queries } from "./postgres-database.ts";
import { writeEnd } from "./postgres-ending.ts";
import { readEventRows } from "./postgres-events.ts";
import type { PostgresNews } from "./postgres-news.ts";
import { toNotesValue } from "./postgres-notes.ts";
import {
  APPEND,
  type Belief,
  checkOwner,
  insertRun,
  insertStep,
  isAppended,
  isFinished,
  isOwn,
  lockOwned,
  readCurrent,
  readStep,
  writeStep,
} from "./postgres-owned.ts";
import { createWriteProbe } from "./postgres-probe.ts";
import { createRecorder, RECORDED, type RecordRun } from "./postgres-record.ts";
import { toRunQuery } from "./postgres-run-query.ts";
import * as signals from "./postgres-signals.ts";
import { DELETE_TREE } from "./postgres-things.ts";
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
import * as workers from "./postgres-workers.ts";

/** The caller closes the database; `close` ends the listening. */
export function createPostgresStore(db: PostgresDatabase, news: PostgresNews): Store {
  return new PostgresStore(db, news);
}

const ALL = Number.MAX_SAFE_INTEGER;
class PostgresStore implements Store {
  readonly #db: PostgresDatabase;
  readonly #news: PostgresNews;
  readonly #probe: () => Promise<void>;
  readonly #record: RecordRun;
  readonly #append: AppendPlain;

  constructor(db: PostgresDatabase, news: PostgresNews) {
    this.#db = db;
    this.#news = news;
    this.#probe = createWriteProbe(db);
    this.#record = createRecorder(db, (...given) => this.#recordAlone(...given));
    this.#append = createAppender(db);
  }

  get news(): StoreNews {
    return this.#news;
  }

  async createRun(run: NewRun): Promise<boolean> {
    return (await this.#create(run, undefined)) === "new";
  }

  async recordRun(run: NewRun, end: Omit<RunFinish, "firstSeq">): Promise<boolean> {
    return await this.#record(run, end);
  }

  async #recordAlone(
    run: NewRun,
    end: Omit<RunFinish, "firstSeq">,
    mayBeWritten: boolean,
  ): Promise<boolean> {
    const owned = { ...run, owner: RECORDED };
    return await this.#db.transact(async (tx, isRetry) => {
      const known = await tx.get(
        "select owner, created_at_ms from offshoot.runs where id = $1",
        toColumn(run.id),
      );
      if (known) return (mayBeWritten || isRetry) && isOwn(known, owned);
      if (!(await insertRun(tx, owned))) return false;
      await writeEnd(tx, run.id, 1, { ...end, firstSeq: 0 });
      return true;
    });
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

  async takeTurn(
    owner: string,
    queue: Queue,
    journal = JOURNAL_VERSION,
  ): Promise<TakenTurn | undefined> {
    /** The turn that an earlier try took, whose answer was lost. */
    let tried: TakenTurn | undefined;
    return await this.#db.transact(async (tx) => {
      await turns.lockQueue(tx, queue.queue);
      if (tried && (await turns.isTaken(tx, owner, tried))) return tried;
      tried = await turns.take(tx, owner, queue, journal);
      return tried;
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
    const sql = `select id, parent_id, name, owner, epoch, created_at_ms, journal from offshoot.runs
      where status = 'running' order by created_at_ms, number`;
    return (await this.#db.all(sql)).map((row) => ({
      id: fromColumn(row["id"]),
      parent_id: fromNullable(row["parent_id"]),
      name: fromColumn(row["name"]),
      owner: fromNullable(row["owner"]),
      epoch: Number(row["epoch"]),
      created_at_ms: Number(row["created_at_ms"]),
      journal: Number(row["journal"]),
    }));
  }

  async claim(
    id: string,
    owner: string,
    from?: number,
    journal = JOURNAL_VERSION,
  ): Promise<number | undefined> {
    const sql = `update offshoot.runs set epoch = epoch + 1, owner = $1, journal = $4
      where id = $2 and status = 'running' and epoch = coalesce($3::bigint, epoch) and journal <= $4
      returning epoch`;
    return await this.#db.write(async (queries, isRetry) => {
      const row = await queries.get(sql, toColumn(owner), toColumn(id), from ?? null, journal);
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
    const belief = { id, epoch, firstSeq: last?.firstSeq, count: last?.events.length ?? 0 };
    const events = STORED_EVENTS.write(last?.events ?? []);
    const notes = last ? toNotesValue(last.firstSeq, last.events) : null;
    await this.#writeOwned(belief, [value, events], (queries, [step, batch], isRetry) => {
      const log = belief.count > 0 ? batch : undefined;
      const row = { key, value: step, log, notes };
      return writeStep({ db: this.#db, queries, isRetry }, belief, row);
    });
  }

  async append(
    id: string,
    epoch: number,
    firstSeq: number,
    events: readonly RunEvent[],
  ): Promise<void> {
    const belief = { id, epoch, firstSeq, count: events.length };
    const notes = toNotesValue(firstSeq, events);
    const value = STORED_EVENTS.write(events);
    if (notes === null && events.length > 0 && !isParted(value)) {
      await this.#append({ belief, log: writeInline(value) });
      return this.#news.tell(id);
    }
    await this.#writeOwned(belief, [value], async (queries, [batch]) => {
      const log = [firstSeq, events.length, batch.inline, batch.parts, notes];
      const bytes = events.length === 0 ? 0 : batch.bytes;
      return await queries.run(APPEND, toColumn(id), epoch, bytes, ...log);
    });
  }

  async readEvents(id: string, after: number, limit: number): Promise<LoggedEvent[]> {
    return await readEventRows(this.#db, id, after, limit);
  }

  async finish(id: string, epoch: number, end: RunFinish): Promise<void> {
    const { firstSeq, events } = end;
    const belief = { id, epoch, firstSeq, count: events.length };
    await this.#db.transact(async (tx, isRetry) => {
      if (isRetry && (await isFinished(tx, belief))) return;
      await tx.run("select 1 from offshoot.runs where id = $1 for update", toColumn(id));
      await checkOwner(tx, belief);
      await writeEnd(tx, id, epoch, end);
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
    // Called again and again, mostly without a result, so a look takes no lock. An earlier owner is refused here too.
    if (!(await signals.hasAny(this.#db, id, topic))) {
      await checkOwner(this.#db, { id, epoch });
      return undefined;
    }
    /** The key of a try whose answer was lost: what it took is there, if it was written. */
    let tried: string | undefined;
    return await this.#db.transact(async (tx) => {
      await lockOwned(tx, { id, epoch });
      const taken = tried === undefined ? undefined : await readStep(tx, { id, epoch }, tried);
      if (taken) return taken.value;
      const key = takenKey(topic, await signals.countTaken(tx, id, topic));
      tried = key;
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
    return await this.#db.transact(async (tx, isRetry) => {
      await lockOwned(tx, { id, epoch });
      const taken = isRetry ? await readStep(tx, { id, epoch }, key) : undefined;
      if (taken) return taken.value as Json[];
      const value = await signals.take(tx, id, topic, ALL);
      await insertStep(tx, { id, epoch }, key, value);
      return value;
    });
  }

  async findSignals(owner: string, topic: string): Promise<FoundSignal[]> {
    return await signals.find(this.#db, owner, topic);
  }

  /**
   * Written to the database's write-ahead log, which keeps nothing of it. The tables may be on another disk, which is
   * full.
   */
  async checkWritable(): Promise<void> {
    await this.#probe();
  }

  async beat(worker: Worker): Promise<void> {
    await workers.beat(this.#db, worker);
  }

  async getWorker(id: string): Promise<Worker | undefined> {
    return await workers.getWorker(this.#db, id);
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

  /** One statement if no value is large. `write` returns how many rows it changed: none is a refusal. */
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
}
