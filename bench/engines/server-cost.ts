/** What a Postgres server has used so far: its CPU, its transactions and what it wrote. Linux. */

import { readFileSync } from "node:fs";
import type { PostgresServer } from "../../test/store/postgres/postgres-server.ts";
import { childrenOf } from "../gateway/processes.ts";

export interface ServerCost {
  readonly cpuMs: number;
  /** Transactions that wrote something. */
  readonly transactions: number;
  /** Bytes of its write-ahead log. */
  readonly walBytes: number;
}

const TICK_MS = 10;

/** A process of the server that lives as long as the server does. */
const LASTING = "(select pid from pg_stat_activity where backend_type = 'checkpointer')";

/** The figures of a server that has no other user. */
export async function readServerCost(
  { query }: PostgresServer,
  address: string,
): Promise<ServerCost> {
  const [row] = await query(
    address,
    `select ${LASTING} as pid, pg_snapshot_xmax(pg_current_snapshot())::text::float8 as xid,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`,
  );
  return {
    cpuMs: readTreeMs(parentOf(Number(row?.["pid"]))),
    transactions: Number(row?.["xid"]),
    walBytes: Number(row?.["wal"]),
  };
}

export function subtract(after: ServerCost, before: ServerCost): ServerCost {
  return {
    cpuMs: after.cpuMs - before.cpuMs,
    transactions: after.transactions - before.transactions,
    walBytes: after.walBytes - before.walBytes,
  };
}

/**
 * The fields of `/proc/PID/stat` after the name, which may contain spaces: the first is field 3.
 */
function readStat(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function parentOf(pid: number): number {
  return Number(readStat(pid)[4 - 3]);
}

/** The CPU of the server, of its living processes, and of those that have ended. */
function readTreeMs(pid: number): number {
  const sum = (fields: readonly string[], from: number, to: number): number =>
    fields.slice(from - 3, to - 2).reduce((total, field) => total + Number(field), 0) * TICK_MS;
  let ms = sum(readStat(pid), 14, 17);
  for (const child of childrenOf({ pid })) {
    try {
      ms += sum(readStat(child.pid), 14, 15);
    } catch {
      // It has ended meanwhile.
    }
  }
  return ms;
}
