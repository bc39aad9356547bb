/**
 * The rules of an audit log in a database: waiting entries are written in one insert after at most `FLUSH_MS`, so a
 * crash loses that much of the log. If the database refuses writes for a while, entries beyond `MAX_ENTRIES` are lost,
 * the oldest first; a request never is.
 */

import { WAIT_OVER } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";
import { nextTurn } from "../base/turn.ts";
import {
  type Audit,
  type AuditEntry,
  type AuditQuery,
  MAX_ENTRIES,
  type StoredAuditEntry,
} from "./audit.ts";

const FLUSH_MS = 1000;

/** The table of one database. */
export interface AuditRows {
  /** In this order, all or none. */
  insert(batch: readonly AuditEntry[]): Promise<void>;
  list(query: AuditQuery): Promise<StoredAuditEntry[]>;
  /** Removes some of the older entries, in one transaction; true if there may be more. */
  prune(beforeMs: number): Promise<boolean>;
}

export function createBufferedAudit(rows: AuditRows, clock: Clock): Audit {
  let waiting: AuditEntry[] = [];
  let timer: AbortController | undefined;
  let flushing: Promise<void> | undefined;

  function write(entry: AuditEntry): void {
    waiting.push(entry);
    if (waiting.length > MAX_ENTRIES) waiting.shift();
    if (!timer) flushLater();
  }

  function flushLater(): void {
    timer = new AbortController();
    const flushed = clock.sleep(FLUSH_MS, timer.signal).then(() => {
      timer = undefined;
      return flush();
    });
    // Stopped by `close`, or refused by the database: the next entry tries again with all that wait.
    flushed.catch(() => {});
  }

  /** One at a time: entries that come while another process locks the file wait in memory. */
  function flush(): Promise<void> {
    flushing ??= insert().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  async function insert(): Promise<void> {
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    try {
      await rows.insert(batch);
    } catch (thrown) {
      waiting = [...batch, ...waiting].slice(-MAX_ENTRIES);
      throw thrown;
    }
  }

  /** Also writes entries that came while a batch was being written. */
  async function flushAll(): Promise<void> {
    await flushing?.catch(() => {});
    await flush();
  }

  return {
    write,
    async list(query) {
      await flushAll();
      return await rows.list(query);
    },
    async prune(beforeMs) {
      await flushAll();
      while (await rows.prune(beforeMs)) await nextTurn();
    },
    async close() {
      timer?.abort(WAIT_OVER);
      timer = undefined;
      await flushAll();
    },
  };
}
