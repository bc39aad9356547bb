/**
 * Runs in one SQLite file; the tables are in `migrations.ts`. Every write is a transaction that
 * checks the owner's epoch first, so that it holds between processes too.
 *
 * The calls are synchronous inside: a commit takes 0.02 to 0.2 ms, less than a hand-over to a thread.
 */

import { createHash } from "node:crypto";
import type { Json } from "../base/json.ts";
import type { LoggedEvent, RunEvent } from "../protocol/run-events.ts";
import { toRefusal, toRepeatedStep, toUnknownRun } from "./refusal.ts";
import type { Shelf } from "./shelf.ts";
import { type Database, openDatabase } from "./sqlite-database.ts";
import type { SqlRow, SqlValue } from "./sqlite-driver.ts";
import { createSqliteShelf } from "./sqlite-shelf.ts";
import type {
  FinishedStep,
  FoundSignal,
  NewRun,
  RunFinish,
  RunQuery,
  Store,
  StoredRun,
  UnfinishedRun,
  Worker,
} from "./store.ts";
import { takenKey } from "./taken-key.ts";
import { fromColumn, fromNullable, toColumn, toNullable } from "./text-column.ts";

/** Longer values go to `blobs`, so that listing runs or batches does not read through them. */
const MAX_INLINE_BYTES = 256 * 1024;

/** Opens the file, creating it and its directory when they are missing. */
export async function openSqliteStore(path: string): Promise<Store> {
  return createSqliteStore(await openDatabase(path));
}

/** What a server keeps, over one connection to one file. */
export interface SqliteStores {
  readonly store: Store;
  readonly shelf: Shelf;
  /** The connection, for what is asked in SQL of its own: chunks, spending, audit. */
  readonly chunksDb: Database;
  /** Closes the connection, and so all of them. */
  close(): Promise<void>;
}

/** Like `openSqliteStore`, with the shelf in the same file. Close it here, not at `store`. */
export async function openSqliteStores(path: string): Promise<SqliteStores> {
  const db = await openDatabase(path);
  const store = createSqliteStore(db);
  return { store, shelf: createSqliteShelf(db), chunksDb: db, close: () => store.close() };
}

function createSqliteStore(db: Database): Store {
  forgetOldWorkers(db);
  return new SqliteStore(db);
}

/** Every command is a worker for a moment; those of yesterday that own nothing are of no use. */
function forgetOldWorkers(db: Database): void {
  const old = "beat_at_ms < (unixepoch() - 86400) * 1000";
  const idle = "id not in (select owner from runs where status = 'running' and owner is not null)";
  if (!db.get(`select 1 from workers where ${old} and ${idle} limit 1`)) return;
  db.transact("process", () => db.run(`delete from workers where ${old} and ${idle}`));
}

class SqliteStore implements Store {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async createRun(run: NewRun): Promise<boolean> {
    const id = toColumn(run.id);
    return this.#db.transact("power", () => {
      if (this.#db.get("select 1 from runs where id = ?", id)) return false;
      const parent = toNullable(run.parent_id);
      const text = [run.path, run.name, run.title].map(toColumn);
      this.#db.run(
        "insert into runs (id, parent_id, path, name, title, created_at_ms) values (?, ?, ?, ?, ?, ?)",
        ...[id, parent, ...text, run.created_at_ms],
      );
      // The blob refers to the run, so the run must be there first.
      const input = this.#write(id, JSON.stringify(run.input));
      this.#db.run("update runs set input = ?, input_blob = ? where id = ?", ...input, id);
      return true;
    });
  }

  async getRun(id: string): Promise<StoredRun | undefined> {
    const row = this.#db.get("select * from runs where id = ?", toColumn(id));
    return row && this.#toRun(row);
  }

  async listRuns({ limit, status, parent_id, before }: RunQuery): Promise<StoredRun[]> {
    const terms = ["true"];
    const values: SqlValue[] = [];
    if (status !== undefined) terms.push(`status = '${status === "ended" ? "ended" : "running"}'`);
    if (parent_id !== undefined) {
      // `is` compares with null too, and finds both by the index.
      terms.push("parent_id is ?");
      values.push(toNullable(parent_id));
    }
    if (before !== undefined) {
      const at = this.#db.get(
        "select created_at_ms, rowid from runs where id = ?",
        toColumn(before),
      );
      if (!at) throw toUnknownRun(before);
      terms.push("(created_at_ms, rowid) < (?, ?)");
      values.push(at["created_at_ms"] ?? null, at["rowid"] ?? null);
    }
    const order = "order by created_at_ms desc, rowid desc limit ?";
    const sql = `select * from runs where ${terms.join(" and ")} ${order}`;
    return this.#db.all(sql, ...values, limit).map((row) => this.#toRun(row));
  }

  async listUnfinished(): Promise<UnfinishedRun[]> {
    const sql = `select id, parent_id, name, owner, epoch, created_at_ms from runs
      where status = 'running' order by created_at_ms, rowid`;
    return this.#db.all(sql).map((row) => ({
      id: fromColumn(row["id"]),
      parent_id: fromNullable(row["parent_id"]),
      name: fromColumn(row["name"]),
      owner: fromNullable(row["owner"]),
      epoch: Number(row["epoch"]),
      created_at_ms: Number(row["created_at_ms"]),
    }));
  }

  async claim(id: string, owner: string, from?: number): Promise<number | undefined> {
    const sql = `update runs set epoch = epoch + 1, owner = ?
      where id = ? and status = 'running' and epoch = coalesce(?, epoch) returning epoch`;
    const row = this.#db.transact("process", () =>
      this.#db.get(sql, toColumn(owner), toColumn(id), from ?? null),
    );
    if (row) return Number(row["epoch"]);
    if (!this.#db.get("select 1 from runs where id = ?", toColumn(id))) throw toUnknownRun(id);
    return undefined;
  }

  async readSteps(id: string): Promise<Map<string, Json>> {
    const sql = "select key, value, value_blob from steps where run_id = ?";
    const rows = this.#db.all(sql, toColumn(id));
    return new Map(rows.map((row) => [fromColumn(row["key"]), this.#read(id, row, "value")]));
  }

  async saveStep(id: string, epoch: number, step: FinishedStep): Promise<void> {
    const { last } = step;
    this.#db.transact("power", () => {
      if (last) this.#append(id, epoch, last.firstSeq, last.events);
      else this.#checkOwner(id, epoch);
      this.#insertStep(id, epoch, step);
    });
  }

  async append(
    id: string,
    epoch: number,
    firstSeq: number,
    events: readonly RunEvent[],
  ): Promise<void> {
    this.#db.transact("process", () => this.#append(id, epoch, firstSeq, events));
  }

  async readEvents(id: string, after: number, limit: number): Promise<LoggedEvent[]> {
    // The batch that holds the first wanted event starts at or before it.
    const sql = `
      select first_seq, body, body_blob from events
      where run_id = ? and first_seq <= ? and first_seq >= coalesce(
        (select max(first_seq) from events where run_id = ? and first_seq <= ?), 0)
      order by first_seq`;
    const first = Math.max(after + 1, 0);
    const last = first + limit - 1;
    const found: LoggedEvent[] = [];
    for (const row of this.#db.all(sql, toColumn(id), last, toColumn(id), first)) {
      const events = this.#read(id, row, "body") as unknown as RunEvent[];
      for (const [index, event] of events.entries()) {
        const seq = Number(row["first_seq"]) + index;
        if (seq >= first && seq <= last) found.push({ run_id: id, seq, event });
      }
    }
    return found;
  }

  async finish(id: string, epoch: number, end: RunFinish): Promise<void> {
    this.#db.transact("power", () => {
      this.#append(id, epoch, end.firstSeq, end.events);
      const result = this.#write(toColumn(id), JSON.stringify(end.result));
      this.#db.run(
        `update runs set status = 'ended', ending = ?, ended_at_ms = ?, result = ?, result_blob = ?
         where id = ?`,
        ...[end.ending, end.at_ms, ...result, toColumn(id)],
      );
    });
  }

  async putSignal(id: string, signal: { topic: string; key: string; body: Json }): Promise<void> {
    this.#db.transact("power", () => {
      const run = toColumn(id);
      if (!this.#db.get("select 1 from runs where id = ?", run)) throw toUnknownRun(id);
      this.#db.run(
        "insert into signals (run_id, topic, key, body) values (?, ?, ?, ?) on conflict do nothing",
        ...[run, toColumn(signal.topic), toColumn(signal.key), JSON.stringify(signal.body)],
      );
    });
  }

  async takeSignal(id: string, epoch: number, topic: string): Promise<Json | undefined> {
    const find =
      "select id, body from signals where run_id = ? and topic = ? and taken = 0 order by id limit 1";
    const on = [toColumn(id), toColumn(topic)];
    return this.#db.transact("power", () => {
      this.#checkOwner(id, epoch);
      const next = this.#db.get(find, ...on);
      if (!next) return undefined;
      const sql = "select count(*) as n from signals where run_id = ? and topic = ? and taken = 1";
      const key = takenKey(topic, Number(this.#db.get(sql, ...on)?.["n"]));
      const value = JSON.parse(String(next["body"])) as Json;
      this.#insertStep(id, epoch, { key, value });
      this.#db.run("update signals set taken = 1 where id = ?", next["id"] ?? null);
      return value;
    });
  }

  async findSignals(owner: string, topic: string): Promise<FoundSignal[]> {
    // A cross join keeps its order: running runs are few, messages of the past may be many.
    const sql = `select run_id, body from runs cross join signals
      on runs.id = signals.run_id and topic = ? and taken = 0
      where status = 'running' and owner = ? order by signals.id`;
    const found = new Map<string, Json>();
    for (const row of this.#db.all(sql, toColumn(topic), toColumn(owner))) {
      const run = fromColumn(row["run_id"]);
      if (!found.has(run)) found.set(run, JSON.parse(String(row["body"])) as Json);
    }
    return [...found].map(([run_id, body]) => ({ run_id, body }));
  }

  async beat({ id, host, pid, beat_at_ms }: Worker): Promise<void> {
    const sql = `insert into workers (id, host, pid, beat_at_ms) values (?, ?, ?, ?)
      on conflict do update set host = excluded.host, pid = excluded.pid,
        beat_at_ms = excluded.beat_at_ms`;
    const values = [toColumn(id), toColumn(host), pid, beat_at_ms];
    this.#db.transact("process", () => this.#db.run(sql, ...values));
  }

  async getWorker(id: string): Promise<Worker | undefined> {
    const row = this.#db.get("select * from workers where id = ?", toColumn(id));
    if (!row) return undefined;
    const [pid, beat_at_ms] = [Number(row["pid"]), Number(row["beat_at_ms"])];
    return { id, host: fromColumn(row["host"]), pid, beat_at_ms };
  }

  async deleteRun(id: string): Promise<void> {
    // The other tables follow by their foreign keys.
    this.#db.transact("power", () => this.#db.run("delete from runs where id = ?", toColumn(id)));
  }

  async deleteTree(id: string): Promise<void> {
    // `union` takes each run once, so that a loop of parents ends.
    const sql = `with recursive tree (id) as (
        values (?) union select runs.id from tree join runs on runs.parent_id = tree.id)
      delete from runs where id in (select id from tree)`;
    this.#db.transact("power", () => this.#db.run(sql, toColumn(id)));
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  /** Inside a transaction: appends, or throws why not. */
  #append(id: string, epoch: number, firstSeq: number, events: readonly RunEvent[]): void {
    const run = toColumn(id);
    const sql = `update runs set next_seq = next_seq + ?
      where id = ? and epoch = ? and status = 'running' and next_seq = ?`;
    if (this.#db.run(sql, events.length, run, epoch, firstSeq) === 0) {
      throw toRefusal(this.#current(id), { id, epoch, firstSeq });
    }
    if (events.length === 0) return;
    this.#db.run(
      "insert into events (run_id, first_seq, count, epoch, body, body_blob) values (?, ?, ?, ?, ?, ?)",
      ...[run, firstSeq, events.length, epoch, ...this.#write(run, JSON.stringify(events))],
    );
  }

  #insertStep(id: string, epoch: number, { key, value }: { key: string; value: Json }): void {
    const run = toColumn(id);
    const inserted = this.#db.run(
      `insert into steps (run_id, key, epoch, value, value_blob) values (?, ?, ?, ?, ?)
       on conflict do nothing`,
      ...[run, toColumn(key), epoch, ...this.#write(run, JSON.stringify(value))],
    );
    if (inserted === 0) throw toRepeatedStep(id, key);
  }

  #checkOwner(id: string, epoch: number): void {
    const refusal = toRefusal(this.#current(id), { id, epoch });
    if (refusal) throw refusal;
  }

  #current(id: string): Pick<StoredRun, "epoch" | "status" | "next_seq"> | undefined {
    const sql = "select epoch, status, next_seq from runs where id = ?";
    const row = this.#db.get(sql, toColumn(id));
    if (!row) return undefined;
    const status = row["status"] as StoredRun["status"];
    return { epoch: Number(row["epoch"]), status, next_seq: Number(row["next_seq"]) };
  }

  /** The pair of columns for a JSON text: itself, or the name of the blob it went to. */
  #write(run: string, json: string): [SqlValue, SqlValue] {
    if (Buffer.byteLength(json) <= MAX_INLINE_BYTES) return [json, null];
    const sha256 = createHash("sha256").update(json).digest("hex");
    const sql = "insert into blobs (run_id, sha256, body) values (?, ?, ?) on conflict do nothing";
    this.#db.run(sql, run, sha256, json);
    return [null, sha256];
  }

  /** The value of a pair of columns; null when both are empty. */
  #read(id: string, row: SqlRow, column: string): Json {
    const sha256 = row[`${column}_blob`] ?? null;
    const sql = "select body from blobs where run_id = ? and sha256 = ?";
    const json = sha256 === null ? row[column] : this.#db.get(sql, toColumn(id), sha256)?.["body"];
    return json === null || json === undefined ? null : (JSON.parse(String(json)) as Json);
  }

  #toRun(row: SqlRow): StoredRun {
    const id = fromColumn(row["id"]);
    return {
      id,
      parent_id: fromNullable(row["parent_id"]),
      path: fromColumn(row["path"]),
      name: fromColumn(row["name"]),
      title: fromColumn(row["title"]),
      input: this.#read(id, row, "input"),
      created_at_ms: Number(row["created_at_ms"]),
      status: row["status"] as StoredRun["status"],
      epoch: Number(row["epoch"]),
      owner: fromNullable(row["owner"]),
      ending: (row["ending"] ?? null) as StoredRun["ending"],
      result: this.#read(id, row, "result"),
      ended_at_ms: row["ended_at_ms"] as number | null,
      next_seq: Number(row["next_seq"]),
    };
  }
}
