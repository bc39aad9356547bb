/**
 * The usage and reservations of keys, in the tables `spending` and `holds`. Only one process at a time checks and books
 * for a key: it locks the key, reads the key's rows, applies the rules to them (`spending-rows.ts`), and writes the
 * result, in one transaction.
 *
 * What adds to a count is booked under a name of its own (`bookings`): if the connection is lost, the answer to a
 * booking may be lost, and the next try finds the name. A hold needs none: it sets an amount, and does not add to it.
 */

import { randomUUID } from "node:crypto";
import type { KeyHold } from "../holds.ts";
import type { Amounts, KeyAmounts, Settlement, Spending } from "../spending.ts";
import {
  createRowSpending,
  mapUnits,
  nameWindows,
  type SpendingRows,
  settleRows,
  toSettling,
} from "../spending-rows.ts";
import { fromColumn, toColumn } from "../text-column.ts";
import type { PostgresDatabase, Queries, Reads } from "./postgres-database.ts";
import type { PostgresRow } from "./postgres-driver.ts";

/** The caller closes the database. */
export function createPostgresSpending(db: PostgresDatabase): Spending {
  const { decide, book } = createDeciding(db);
  return {
    take: (keyId, amounts, limits, nowMs) =>
      book({ keyId, nowMs, call: (rows) => rows.take(keyId, amounts, limits, nowMs) }),
    settle: (keyId, delta, settling) =>
      book({ keyId, nowMs: settling.nowMs, call: (rows) => rows.settle(keyId, delta, settling) }),
    hold: (keyId, wish, limits, nowMs) =>
      decide({ keyId, nowMs, call: (rows) => rows.hold(keyId, wish, limits, nowMs) }),
    readHolds: (keyId) => readHolds(db, keyId),
    async keepHolds(ids, nowMs) {
      const sql = "update offshoot.holds set beat_at_ms = $1 where id = any($2)";
      await db.write(({ run }) => run(sql, nowMs, ids.map(toColumn)));
    },
    async listStaleHolds({ beforeMs, after, limit }) {
      const sql = `select id from offshoot.holds where id > $1 and beat_at_ms < $2
        order by id limit $3`;
      const rows = await db.all(sql, after === undefined ? "" : toColumn(after), beforeMs, limit);
      return rows.map(({ id }) => fromColumn(id));
    },
    async dropHolds(ids, beforeMs) {
      const sql = "delete from offshoot.holds where beat_at_ms < $1 and id = any($2)";
      await db.write(({ run }) => run(sql, beforeMs, ids.map(toColumn)));
    },
    async read(keyId, nowMs) {
      const rows = await readRows(db, { keyId, nowMs, decided: [] });
      return await createRowSpending(rows).read(keyId, nowMs);
    },
    async list(dayMs) {
      const window = dayMs === undefined ? "total" : nameWindows(dayMs).day;
      const sql = `select * from offshoot.spending where "window" = $1 order by key_id`;
      return (await db.all(sql, window)).map(toKeyAmounts);
    },
    async prune(beforeMs) {
      const sql = `delete from offshoot.spending where "window" like '%T%' and "window" < $1`;
      await db.write(({ run }) => run(sql, nameWindows(beforeMs).minute));
      await db.write(({ run }) => run(FORGET_BOOKINGS));
    },
    async forget(keyId) {
      await db.transact(async (tx) => {
        await lockKey(tx, keyId);
        await tx.run("delete from offshoot.spending where key_id = $1", toColumn(keyId));
        await tx.run("delete from offshoot.holds where key_id = $1", toColumn(keyId));
      });
    },
  };
}

interface Deciding {
  /** Applies the rules to the rows of a key, and writes the result. */
  decide<Out>(decision: Decision<Out>): Promise<Out>;
  /** Like `decide`, for what adds to a count. Undefined if an earlier try has booked it. */
  book<Out>(decision: Decision<Out>): Promise<Out | undefined>;
}

function createDeciding(db: PostgresDatabase): Deciding {
  const decideIn = async <Out>(
    tx: Queries,
    { keyId, nowMs, call }: Decision<Out>,
  ): Promise<{ readonly result: Out; readonly hasWritten: boolean }> => {
    const decided: Write[] = [];
    const result = await call(createRowSpending(await readRows(tx, { keyId, nowMs, decided })));
    for (const write of decided) await write(tx);
    return { result, hasWritten: decided.length > 0 };
  };
  return {
    decide: (decision) =>
      db.transact(async (tx) => {
        await lockKey(tx, decision.keyId);
        return (await decideIn(tx, decision)).result;
      }),
    book(decision) {
      const name = randomUUID();
      return db.transact(async (tx, isRetry) => {
        await lockKey(tx, decision.keyId);
        const sql = "select 1 from offshoot.bookings where id = $1";
        if (isRetry && (await tx.get(sql, name))) return undefined;
        const { result, hasWritten } = await decideIn(tx, decision);
        // A refusal books nothing: if its answer is lost, the next try has to refuse again.
        if (hasWritten) await tx.run("insert into offshoot.bookings (id) values ($1)", name);
        return result;
      });
    },
  };
}

/** Books what a run has used and ends its hold, in the transaction of the run's ending. */
export async function settleRun(
  tx: Queries,
  runId: string,
  settles: Settlement | undefined,
): Promise<void> {
  if (!settles) return;
  await lockKey(tx, settles.keyId);
  const decided: Write[] = [];
  settleRows(createWrites(decided), settles.keyId, settles.used, toSettling(runId, settles));
  for (const write of decided) await write(tx);
}

type Write = (tx: Queries) => Promise<unknown>;

/** The decision to take by the rules for a key. */
interface Decision<Out> {
  readonly keyId: string;
  readonly nowMs: number;
  call(spending: Spending): Promise<Out>;
}

/** Longer than any write is tried again (`BUSY_LIMIT_MS`). */
const FORGET_BOOKINGS =
  "delete from offshoot.bookings where booked_at < clock_timestamp() - interval '1 hour'";

async function lockKey(tx: Queries, keyId: string): Promise<void> {
  const sql = "select pg_advisory_xact_lock(hashtextextended('key ' || $1, 0))";
  await tx.get(sql, toColumn(keyId));
}

interface Reading {
  readonly keyId: string;
  readonly nowMs: number;
  /** Collects the writes to make. */
  readonly decided: Write[];
}

/** The rows of one key as they are now. */
async function readRows(db: Reads, { keyId, nowMs, decided }: Reading): Promise<SpendingRows> {
  const names = Object.values(nameWindows(nowMs));
  const sql = `select * from offshoot.spending where key_id = $1 and "window" = any($2)`;
  const found = new Map<string, Amounts>();
  for (const row of await db.all(sql, toColumn(keyId), names)) {
    found.set(String(row["window"]), toAmounts(row));
  }
  const holds = await readHolds(db, keyId);
  const refuse = (): never => {
    throw new TypeError("Only the rules for one key are asked here.");
  };
  return {
    transact: async (work) => work(),
    get: (_, window) => found.get(window),
    ...createWrites(decided),
    holdsOf: () => holds,
    putHold(of, { id, tokens, usd }, atMs) {
      const values = [toColumn(id), toColumn(of), tokens, usd, atMs];
      decided.push(({ run }) => run(PUT_HOLD, ...values));
    },
    list: refuse,
    prune: refuse,
    forget: refuse,
    keepHolds: refuse,
    listStaleHolds: refuse,
    dropHolds: refuse,
  };
}

function createWrites(decided: Write[]): Pick<SpendingRows, "add" | "endHold"> {
  return {
    add(of, windows, { requests, tokens, usd, unpriced }) {
      const values = [toColumn(of), windows, requests, tokens, usd, unpriced];
      decided.push(({ run }) => run(ADD, ...values));
    },
    endHold(id) {
      const ended = "delete from offshoot.holds where id = $1";
      decided.push(({ run }) => run(ended, toColumn(id)));
    },
  };
}

const ADD = `insert into offshoot.spending as s (key_id, "window", requests, tokens, usd, unpriced)
  select $1, unnest($2::text[]), $3, $4, $5, $6
  on conflict (key_id, "window") do update set requests = s.requests + excluded.requests,
    tokens = s.tokens + excluded.tokens, usd = s.usd + excluded.usd,
    unpriced = s.unpriced + excluded.unpriced`;

/** A process that stood still may ask for a run that others have ended: nothing would end that hold. */
const PUT_HOLD = `insert into offshoot.holds (id, key_id, tokens, usd, beat_at_ms)
  select $1, $2, $3, $4, $5
    where not exists (select 1 from offshoot.runs where id = $1 and status = 'ended')
  on conflict (id) do update set tokens = excluded.tokens, usd = excluded.usd,
    beat_at_ms = excluded.beat_at_ms`;

async function readHolds(db: Reads, keyId: string): Promise<KeyHold[]> {
  const sql = "select id, tokens, usd from offshoot.holds where key_id = $1 order by id";
  return (await db.all(sql, toColumn(keyId))).map(({ id, tokens, usd }) => ({
    id: fromColumn(id),
    tokens: Number(tokens),
    usd: Number(usd),
  }));
}

function toAmounts(row: PostgresRow): Amounts {
  return mapUnits((unit) => Number(row[unit]));
}

function toKeyAmounts(row: PostgresRow): KeyAmounts {
  return { keyId: fromColumn(row["key_id"]), ...toAmounts(row) };
}
