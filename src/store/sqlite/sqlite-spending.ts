/** The usage and reservations of keys, in the tables `spending` and `holds`. */

import type { Spending } from "../spending.ts";
import { createRowSpending, type HoldRows, mapUnits, type SpendingRows } from "../spending-rows.ts";
import { fromColumn, toColumn } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** The caller closes the database. */
export function createSqliteSpending(db: SqliteDatabase): Spending {
  return createRowSpending(createSpendingRows(db));
}

export function createSpendingRows(db: SqliteDatabase): SpendingRows {
  return {
    transact: (work) => db.write("process", work),
    get(keyId, window) {
      const sql = "select * from spending where key_id = ? and window = ?";
      const row = db.get(sql, toColumn(keyId), window);
      return row && mapUnits((unit) => Number(row[unit]));
    },
    list(window) {
      const rows = db.all("select * from spending where window = ? order by key_id", window);
      return rows.map((row) => {
        return { keyId: fromColumn(row["key_id"]), ...mapUnits((unit) => Number(row[unit])) };
      });
    },
    add(keyId, windows, { requests, tokens, usd, unpriced }) {
      const rows = windows.map((_, at) => `(?1, ?${at + 6}, ?2, ?3, ?4, ?5)`).join(", ");
      const sql = `insert into spending (key_id, window, requests, tokens, usd, unpriced)
        values ${rows}
        on conflict do update set requests = requests + excluded.requests,
          tokens = tokens + excluded.tokens, usd = usd + excluded.usd,
          unpriced = unpriced + excluded.unpriced`;
      db.run(sql, toColumn(keyId), requests, tokens, usd, unpriced, ...windows);
    },
    prune(before) {
      db.run("delete from spending where window like '%T%' and window < ?", before);
    },
    forget(keyId) {
      db.run("delete from spending where key_id = ?", toColumn(keyId));
      db.run("delete from holds where key_id = ?", toColumn(keyId));
    },
    ...createHoldRows(db),
  };
}

function createHoldRows(db: SqliteDatabase): HoldRows {
  return {
    holdsOf: (keyId) =>
      db
        .all("select id, tokens, usd from holds where key_id = ? order by id", toColumn(keyId))
        .map(({ id, tokens, usd }) => ({
          id: fromColumn(id),
          tokens: Number(tokens),
          usd: Number(usd),
        })),
    putHold(keyId, { id, tokens, usd }, nowMs) {
      // A process that was paused may ask for a run that others have ended: that hold would never end.
      const sql = `insert into holds (id, key_id, tokens, usd, beat_at_ms)
        select ?1, ?2, ?3, ?4, ?5
          where not exists (select 1 from runs where id = ?1 and status = 'ended')
        on conflict do update set tokens = excluded.tokens, usd = excluded.usd,
          beat_at_ms = excluded.beat_at_ms`;
      db.run(sql, toColumn(id), toColumn(keyId), tokens, usd, nowMs);
    },
    endHold: (id) => void db.run("delete from holds where id = ?", toColumn(id)),
    keepHolds(ids, nowMs) {
      const sql = "update holds set beat_at_ms = ? where id in (select value from json_each(?))";
      db.run(sql, nowMs, JSON.stringify(ids.map(toColumn)));
    },
    listStaleHolds({ beforeMs, after, limit }) {
      const sql = "select id from holds where id > ? and beat_at_ms < ? order by id limit ?";
      const rows = db.all(sql, after === undefined ? "" : toColumn(after), beforeMs, limit);
      return rows.map(({ id }) => fromColumn(id));
    },
    dropHolds(ids, beforeMs) {
      const sql = `delete from holds where beat_at_ms < ?
        and id in (select value from json_each(?))`;
      db.run(sql, beforeMs, JSON.stringify(ids.map(toColumn)));
    },
  };
}
