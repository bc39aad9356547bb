/** The processes that run something, in the table `workers`. */

import type { Worker } from "../ownership.ts";
import { fromColumn, toColumn } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

export class SqliteWorkers {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  async beat(worker: Worker): Promise<void> {
    const { id, host, pid, boot, pid_namespace, started, beat_at_ms, beat_ms } = worker;
    const sql = `insert or replace into workers
      (id, host, pid, boot, pid_namespace, started, beat_at_ms, beat_ms)
      values (?, ?, ?, ?, ?, ?, ?, ?)`;
    const values = [
      ...[toColumn(id), toColumn(host), pid, boot, pid_namespace, started],
      ...[beat_at_ms, beat_ms],
    ];
    await this.#db.write("process", () => this.#db.run(sql, ...values));
  }

  get(id: string): Worker | undefined {
    const row = this.#db.get("select * from workers where id = ?", toColumn(id));
    if (!row) return undefined;
    const text = (name: string): string => String(row[name]);
    const number = (name: string): number => Number(row[name]);
    return {
      id,
      host: fromColumn(row["host"]),
      pid: number("pid"),
      boot: text("boot"),
      pid_namespace: text("pid_namespace"),
      started: text("started"),
      beat_at_ms: number("beat_at_ms"),
      beat_ms: number("beat_ms"),
    };
  }

  /** Every command is a worker for a moment; those of yesterday that own nothing are of no use. */
  forgetOld(): void {
    const old = "beat_at_ms < (unixepoch() - 86400) * 1000";
    const idle =
      "id not in (select owner from runs where status = 'running' and owner is not null)";
    if (!this.#db.get(`select 1 from workers where ${old} and ${idle} limit 1`)) return;
    try {
      const sql = `delete from workers where ${old} and ${idle}`;
      this.#db.transact(() => this.#db.run(sql));
    } catch {
      // Another process writes, or the disk is full: the next start does it.
    }
  }
}
