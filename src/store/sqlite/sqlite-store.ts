/**
 * Runs in one SQLite file; the tables are in `tables.ts`. Every write is a transaction that
 * checks the owner's epoch first, so that it holds between processes too.
 *
 * The calls are synchronous inside: a commit takes 0.02 to 0.2 ms, less than a hand-over to a thread.
 */

import { whenFree } from "../../base/busy.ts";
import { systemClock } from "../../base/clock.ts";
import type { Json } from "../../base/json.ts";
import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import type { RunQuery, RunRecord, RunStatus } from "../../protocol/run-record.ts";
import type { FinishedStep, NewRun, RunFinish } from "../journal.ts";
import { JOURNAL_VERSION } from "../journal-version.ts";
import type { FoundSignal } from "../mailbox.ts";
import type { Worker } from "../ownership.ts";
import { toRefusal, toRepeatedStep, toUnknownRun } from "../refusal.ts";
import type { UnfinishedRun } from "../run-reader.ts";
import type { Shelf } from "../shelf.ts";
import { type SpendingRows, settleRows, toSettling } from "../spending-rows.ts";
import type { Store } from "../store.ts";
import { STORED_EVENTS } from "../stored-events.ts";
import { takenKey } from "../taken-key.ts";
import { fromColumn, toColumn } from "../text-column.ts";
import type { NewPlace, Queue, QueuePlace, TakenTurn } from "../turns.ts";
import { openDatabase, type SqliteDatabase } from "./sqlite-database.ts";
import { readEventRows } from "./sqlite-events.ts";
import { insertRun } from "./sqlite-new-run.ts";
import { noteEvents } from "./sqlite-notes.ts";
import { tryRemoveLeftDraft } from "./sqlite-parts.ts";
import { toRunQuery } from "./sqlite-run-query.ts";
import { createSqliteShelf } from "./sqlite-shelf.ts";
import { SqliteSignals } from "./sqlite-signals.ts";
import { createSpendingRows } from "./sqlite-spending.ts";
import { DELETE_TREE, insertAll, toFinishWriting, toRunWriting } from "./sqlite-things.ts";
import { SqliteTurns } from "./sqlite-turns.ts";
import {
  type ReadyValue,
  readValue,
  STATUS_COLUMNS,
  sizeOfValue,
  toRun,
  toRunStatus,
  toUnfinishedRun,
  unlessGone,
  writeValue,
  writeWith,
} from "./sqlite-values.ts";
import { SqliteWorkers } from "./sqlite-workers.ts";

/** What `checkWritable` writes: more than most responses take, so that there is room for one. */
const PROBE_BYTES = 64 * 1024;
/** Who asks whether it can be written wants to know it soon; writers of other processes are faster. */
const PROBE_MS = 500;

const ALL = Number.MAX_SAFE_INTEGER;

/** Opens the file, creating it and its directory when they are missing. */
export async function openSqliteStore(path: string): Promise<Store> {
  return createSqliteStore(await openDatabase(path));
}

/** What a server keeps, over one connection to one file. */
export interface SqliteStores {
  readonly store: Store;
  readonly shelf: Shelf;
  /** The connection, for what is asked in SQL of its own: chunks, spending, audit. */
  readonly chunksDb: SqliteDatabase;
  /** Closes the connection, and so all of them. */
  close(): Promise<void>;
}

/** Like `openSqliteStore`, with the shelf in the same file. Close it here, not at `store`. */
export async function openSqliteStores(path: string): Promise<SqliteStores> {
  const db = await openDatabase(path);
  const store = createSqliteStore(db);
  return { store, shelf: createSqliteShelf(db), chunksDb: db, close: () => store.close() };
}

/** Runs over a connection; the caller closes the database, or the store. */
export function createSqliteStore(db: SqliteDatabase): Store {
  const workers = new SqliteWorkers(db);
  workers.forgetOld();
  tryRemoveLeftDraft(db);
  return new SqliteStore(db, workers);
}

type Batch = Pick<RunFinish, "firstSeq" | "events">;

interface ReadyBatch {
  readonly events: ReadyValue;
  /** Bytes that are counted with those of the events. */
  readonly more?: number | undefined;
}

class SqliteStore implements Store {
  readonly #db: SqliteDatabase;
  readonly #turns: SqliteTurns;
  readonly #signals: SqliteSignals;
  readonly #workers: SqliteWorkers;
  readonly #spending: SpendingRows;

  constructor(db: SqliteDatabase, workers: SqliteWorkers) {
    this.#db = db;
    this.#workers = workers;
    this.#spending = createSpendingRows(db);
    this.#signals = new SqliteSignals(db);
    this.#turns = new SqliteTurns(db);
  }

  async createRun(run: NewRun): Promise<boolean> {
    return await writeWith(this.#db, toRunWriting(run), ([input, ...bodies]) => {
      const isNew = !this.#has(run.id);
      if (isNew) insertRun(this.#db, run, input, bodies);
      return isNew;
    });
  }

  async recordRun(run: NewRun, end: Omit<RunFinish, "firstSeq">): Promise<boolean> {
    const { insertEnded } = await import("./sqlite-ended.ts");
    const { durability, tenant } = toRunWriting(run);
    const all = { ...end, things: [...(run.things ?? []), ...(end.things ?? [])] };
    const values = [run.input, ...toFinishWriting(run.id, all).values];
    return await writeWith(this.#db, { values, durability, tenant }, (ready) => {
      const [input = "", events = "", result = "", ...rest] = ready;
      if (!insertEnded(this.#db, run, end, { input, events, result })) return false;
      this.#insertAfter(run.id, all, rest);
      return true;
    });
  }

  async createQueued(run: NewRun, place: NewPlace): Promise<"new" | "known" | "full"> {
    return await writeWith(this.#db, toRunWriting(run), ([input, ...bodies]) => {
      if (this.#has(run.id)) return "known";
      if (this.#turns.isFull(place)) return "full";
      insertRun(this.#db, run, input, bodies);
      this.#turns.add(run.id, place);
      return "new";
    });
  }

  async awaitTurn(id: string, epoch: number, place: QueuePlace): Promise<boolean> {
    return await this.#db.write("process", () => {
      this.#checkOwner(id, epoch);
      return this.#turns.await(id, place);
    });
  }

  async giveTurnBack(id: string, epoch: number): Promise<void> {
    await this.#db.write("process", () => {
      this.#checkOwner(id, epoch);
      this.#turns.giveBack(id);
    });
  }

  async countWaiting(queue: string): Promise<number> {
    return this.#turns.countWaiting(queue);
  }

  async takeTurn(
    owner: string,
    queue: Queue,
    journal = JOURNAL_VERSION,
  ): Promise<TakenTurn | undefined> {
    return await this.#db.write("process", () => this.#turns.take(owner, queue, journal));
  }

  async getRun(id: string): Promise<RunRecord | undefined> {
    const row = this.#db.get("select * from runs where id = ?", toColumn(id));
    return row && (await unlessGone(toRun(this.#db, row)));
  }

  async getRunStatus(id: string): Promise<RunStatus | undefined> {
    const sql = `select ${STATUS_COLUMNS} from runs where id = ?`;
    const row = this.#db.get(sql, toColumn(id));
    return row && toRunStatus(row);
  }

  async listRuns(query: RunQuery): Promise<RunRecord[]> {
    const { sql, values } = toRunQuery(this.#db, query);
    const found: RunRecord[] = [];
    for (const row of this.#db.all(sql, ...values)) {
      const run = await unlessGone(toRun(this.#db, row));
      if (run) found.push(run);
    }
    return found;
  }

  async listUnfinished(): Promise<UnfinishedRun[]> {
    const sql = `select id, parent_id, name, owner, epoch, created_at_ms, journal from runs
      where status = 'running' order by created_at_ms, rowid`;
    return this.#db.all(sql).map(toUnfinishedRun);
  }

  async claim(
    id: string,
    owner: string,
    from?: number,
    journal = JOURNAL_VERSION,
  ): Promise<number | undefined> {
    const sql = `update runs set epoch = epoch + 1, owner = ?1, journal = ?4
      where id = ?2 and status = 'running' and epoch = coalesce(?3, epoch) and journal <= ?4
      returning epoch`;
    const row = await this.#db.write("process", () =>
      this.#db.get(sql, toColumn(owner), toColumn(id), from ?? null, journal),
    );
    if (row) return Number(row["epoch"]);
    if (!this.#db.get("select 1 from runs where id = ?", toColumn(id))) throw toUnknownRun(id);
    return undefined;
  }

  async readSteps(id: string): Promise<Map<string, Json>> {
    const sql = "select key, value, value_blob from steps where run_id = ?";
    const steps = new Map<string, Json>();
    for (const row of this.#db.all(sql, toColumn(id))) {
      const value = await unlessGone(readValue(this.#db, id, row, "value"));
      if (value !== undefined) steps.set(fromColumn(row["key"]), value);
    }
    return steps;
  }

  async saveStep(id: string, epoch: number, step: FinishedStep): Promise<void> {
    const { key, value, last, survives: durability = "power" } = step;
    const values = [value, STORED_EVENTS.write(last?.events ?? [])];
    await writeWith(this.#db, { values, durability, run: id }, ([ready = "", events = ""]) => {
      // The owner is checked first: one of the past must not hear of a step that is there already.
      if (last) this.#append(id, epoch, last, { events, more: sizeOfValue(ready) });
      else this.#checkOwner(id, epoch);
      const bytes = this.#insertStep(id, epoch, key, ready);
      if (!last) this.#addBytes(id, bytes);
    });
  }

  async append(
    id: string,
    epoch: number,
    firstSeq: number,
    events: readonly RunEvent[],
  ): Promise<void> {
    const values = [STORED_EVENTS.write(events)];
    await writeWith(this.#db, { values, durability: "process", run: id }, ([ready = ""]) =>
      this.#append(id, epoch, { firstSeq, events }, { events: ready }),
    );
  }

  async readEvents(id: string, after: number, limit: number): Promise<LoggedEvent[]> {
    return await readEventRows(this.#db, id, after, limit);
  }

  async finish(id: string, epoch: number, end: RunFinish): Promise<void> {
    await writeWith(this.#db, toFinishWriting(id, end), ([events = "", result = "", ...rest]) => {
      // The owner is checked with the append, so that comes first.
      this.#append(id, epoch, end, { events, more: sizeOfValue(result) });
      const { inline, blob } = writeValue(this.#db, toColumn(id), result);
      this.#db.run(
        `update runs set status = 'ended', ending = ?, ended_at_ms = ?, result = ?, result_blob = ?
         where id = ?`,
        ...[end.ending, end.at_ms, inline, blob, toColumn(id)],
      );
      this.#insertAfter(id, end, rest);
    });
  }

  /** What an ending brings with it: things, runs that begin because of it, and what its key pays. */
  #insertAfter(id: string, end: Omit<RunFinish, "firstSeq">, values: readonly ReadyValue[]): void {
    const { things = [], starts = [], settles } = end;
    insertAll(this.#db, things, values);
    for (const [at, run] of starts.entries()) {
      insertRun(this.#db, run, values[things.length + at], []);
      this.#turns.add(run.id, run.place);
    }
    if (settles) settleRows(this.#spending, settles.keyId, settles.used, toSettling(id, settles));
  }

  async putSignal(id: string, signal: { topic: string; key: string; body: Json }): Promise<void> {
    await this.#db.write("power", () => {
      if (!this.#has(id)) throw toUnknownRun(id);
      this.#signals.put(id, signal);
    });
  }

  async takeSignal(id: string, epoch: number, topic: string): Promise<Json | undefined> {
    // Asked once a second of every run that waits, mostly in vain: a look takes no lock and waits for no writer.
    if (!this.#signals.hasAny(id, topic)) {
      this.#checkOwner(id, epoch);
      return undefined;
    }
    return await this.#db.write("power", () => {
      this.#checkOwner(id, epoch);
      const key = takenKey(topic, this.#signals.countTaken(id, topic));
      const [value] = this.#signals.take(id, topic, 1);
      if (value !== undefined)
        this.#addBytes(id, this.#insertStep(id, epoch, key, JSON.stringify(value)));
      return value;
    });
  }

  async takeSignals(
    id: string,
    epoch: number,
    { topic, key }: { topic: string; key: string },
  ): Promise<Json[]> {
    // Asked once a turn of every run, mostly in vain, as above.
    if (!this.#signals.hasAny(id, topic)) return [];
    return await this.#db.write("power", () => {
      this.#checkOwner(id, epoch);
      const value = this.#signals.take(id, topic, ALL);
      this.#addBytes(id, this.#insertStep(id, epoch, key, JSON.stringify(value)));
      return value;
    });
  }

  async findSignals(owner: string, topic: string): Promise<FoundSignal[]> {
    return this.#signals.find(owner, topic);
  }

  async checkWritable(): Promise<void> {
    const sql = "insert or replace into probe (id, bytes) values (1, zeroblob(?))";
    const probe = () => this.#db.transact(() => void this.#db.run(sql, PROBE_BYTES));
    await whenFree(probe, systemClock, systemClock.now() + PROBE_MS);
  }

  async beat(worker: Worker): Promise<void> {
    await this.#workers.beat(worker);
  }

  async getWorker(id: string): Promise<Worker | undefined> {
    return this.#workers.get(id);
  }

  async deleteRun(id: string): Promise<void> {
    // The other tables follow by their foreign keys.
    await this.#db.write("power", () =>
      this.#db.run("delete from runs where id = ?", toColumn(id)),
    );
  }

  async deleteTree(id: string): Promise<void> {
    await this.#db.write("power", () => this.#db.run(DELETE_TREE, toColumn(id)));
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #has(id: string): boolean {
    return this.#db.get("select 1 from runs where id = ?", toColumn(id)) !== undefined;
  }

  /** Inside a transaction: appends, or throws why not. */
  #append(id: string, epoch: number, { firstSeq, events }: Batch, ready: ReadyBatch): void {
    const run = toColumn(id);
    const sql = `update runs set next_seq = next_seq + ?, bytes = bytes + ?
      where id = ? and epoch = ? and status = 'running' and next_seq = ?`;
    const bytes = (ready.more ?? 0) + (events.length === 0 ? 0 : sizeOfValue(ready.events));
    if (this.#db.run(sql, events.length, bytes, run, epoch, firstSeq) === 0) {
      throw toRefusal(this.#current(id), { id, epoch, firstSeq });
    }
    if (events.length === 0) return;
    const body = writeValue(this.#db, run, ready.events);
    this.#db.run(
      "insert into events (run_id, first_seq, count, epoch, body, body_blob) values (?, ?, ?, ?, ?, ?)",
      ...[run, firstSeq, events.length, epoch, body.inline, body.blob],
    );
    noteEvents(this.#db.run, id, { firstSeq, events });
  }

  /** Inside a transaction, which counts the bytes that it gives. */
  #insertStep(id: string, epoch: number, key: string, ready: ReadyValue): number {
    const run = toColumn(id);
    const { inline, blob, bytes } = writeValue(this.#db, run, ready);
    const inserted = this.#db.run(
      `insert into steps (run_id, key, epoch, value, value_blob) values (?, ?, ?, ?, ?)
       on conflict do nothing`,
      ...[run, toColumn(key), epoch, inline, blob],
    );
    if (inserted === 0) throw toRepeatedStep(id, key);
    return bytes;
  }

  #addBytes(id: string, bytes: number): void {
    this.#db.run("update runs set bytes = bytes + ? where id = ?", bytes, toColumn(id));
  }

  #checkOwner(id: string, epoch: number): void {
    const refusal = toRefusal(this.#current(id), { id, epoch });
    if (refusal) throw refusal;
  }

  #current(id: string): Pick<RunRecord, "epoch" | "status" | "next_seq"> | undefined {
    const sql = "select epoch, status, next_seq from runs where id = ?";
    const row = this.#db.get(sql, toColumn(id));
    if (!row) return undefined;
    const status = row["status"] as RunRecord["status"];
    return { epoch: Number(row["epoch"]), status, next_seq: Number(row["next_seq"]) };
  }
}
