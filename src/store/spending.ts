/**
 * What keys have used, by windows of time, and whether they may use more.
 *
 * `take` weighs and books in one transaction, so that two processes cannot both take the last of an
 * allowance. Before a request the price is a guess: `take` books the guess, `settle` what it was off
 * by. What is given back goes to the windows it was taken from; what was more counts now, or a long
 * answer would slip past the limits of the minute it ends in.
 */

import type { Database } from "./sqlite-database.ts";
import { toColumn } from "./text-column.ts";

export interface Spending {
  /** Books the amounts, or tells which limit is in the way and books nothing. */
  take(keyId: string, amounts: Amounts, limits: Limits, nowMs: number): Promise<Excess | undefined>;
  /** `delta` is what was used less what was taken, and may be negative. */
  settle(keyId: string, delta: Partial<Amounts>, times: SettleTimes): Promise<void>;
  /** What the key has used in the windows of this moment. */
  read(keyId: string, nowMs: number): Promise<Readonly<Record<Window, Amounts>>>;
  /** Removes the minutes that began before; days and totals stay. */
  prune(beforeMs: number): Promise<void>;
  /** Removes all that a key has used, when the key itself goes. */
  forget(keyId: string): Promise<void>;
}

export interface Amounts {
  /** Whole, like `tokens`. */
  readonly requests: number;
  readonly tokens: number;
  readonly usd: number;
}

/** Calendar minutes and days of UTC, and all of time. */
export type Window = "minute" | "day" | "total";

/** At most so much in a window; what is left out has no limit. */
export type Limits = { readonly [Name in Window]?: Partial<Amounts> | undefined };

export interface Excess {
  readonly window: Window;
  readonly unit: keyof Amounts;
  readonly limit: number;
  readonly used: number;
  /** Until the window ends; undefined where waiting does not help. */
  readonly retryAfterMs: number | undefined;
}

export interface SettleTimes {
  /** The `nowMs` that `take` was given. */
  readonly takenMs: number;
  readonly nowMs: number;
}

export function createSpending(db: Database): Spending {
  return createOver({
    transact: (work) => db.transact("process", work),
    get(keyId, window) {
      const sql = "select requests, tokens, usd from spending where key_id = ? and window = ?";
      const row = db.get(sql, toColumn(keyId), window);
      return row && mapUnits((unit) => Number(row[unit]));
    },
    add(keyId, window, { requests, tokens, usd }) {
      const sql = `insert into spending (key_id, window, requests, tokens, usd) values (?, ?, ?, ?, ?)
        on conflict do update set requests = requests + excluded.requests,
          tokens = tokens + excluded.tokens, usd = usd + excluded.usd`;
      db.run(sql, toColumn(keyId), window, requests, tokens, usd);
    },
    prune(before) {
      db.run("delete from spending where window like '%T%' and window < ?", before);
    },
    forget(keyId) {
      db.run("delete from spending where key_id = ?", toColumn(keyId));
    },
  });
}

/** For servers that must touch no disk. */
export function createMemorySpending(): Spending {
  const keys = new Map<string, Map<string, Amounts>>();
  return createOver({
    transact: (work) => work(),
    get: (keyId, window) => keys.get(keyId)?.get(window),
    add(keyId, window, more) {
      const windows = keys.get(keyId) ?? new Map<string, Amounts>();
      const used = windows.get(window);
      keys.set(
        keyId,
        windows.set(window, used ? mapUnits((unit) => used[unit] + more[unit]) : more),
      );
    },
    prune(before) {
      for (const windows of keys.values()) {
        for (const window of windows.keys()) {
          if (window.includes("T") && window < before) windows.delete(window);
        }
      }
    },
    forget: (keyId) => void keys.delete(keyId),
  });
}

/** The rows of `spending`. All but `transact` are called inside it. */
interface Rows {
  transact<Out>(work: () => Out): Out;
  get(keyId: string, window: string): Amounts | undefined;
  add(keyId: string, window: string, more: Amounts): void;
  prune(before: string): void;
  forget(keyId: string): void;
}

const WINDOWS: readonly Window[] = ["minute", "day", "total"];
const UNITS = ["requests", "tokens", "usd"] as const satisfies readonly (keyof Amounts)[];
const WINDOW_MS = { minute: 60_000, day: 86_400_000 };
const NOTHING: Amounts = { requests: 0, tokens: 0, usd: 0 };

function createOver(rows: Rows): Spending {
  return {
    async take(keyId, amounts, limits, nowMs) {
      return rows.transact(() => {
        for (const window of WINDOWS) {
          const excess = findExcess(window, limits[window], { keyId, amounts, nowMs });
          if (excess) return excess;
        }
        for (const window of WINDOWS) rows.add(keyId, nameOf(window, nowMs), amounts);
        return undefined;
      });
    },
    async settle(keyId, delta, { takenMs, nowMs }) {
      const back = mapUnits((unit) => Math.min(delta[unit] ?? 0, 0));
      const more = mapUnits((unit) => Math.max(delta[unit] ?? 0, 0));
      rows.transact(() => {
        for (const window of WINDOWS) {
          if (isAny(back)) rows.add(keyId, nameOf(window, takenMs), back);
          if (isAny(more)) rows.add(keyId, nameOf(window, nowMs), more);
        }
      });
    },
    async read(keyId, nowMs) {
      const used = (window: Window): Amounts => rows.get(keyId, nameOf(window, nowMs)) ?? NOTHING;
      return { minute: used("minute"), day: used("day"), total: used("total") };
    },
    async prune(beforeMs) {
      rows.transact(() => rows.prune(nameOf("minute", beforeMs)));
    },
    async forget(keyId) {
      rows.transact(() => rows.forget(keyId));
    },
  };

  function findExcess(
    window: Window,
    limits: Partial<Amounts> | undefined,
    { keyId, amounts, nowMs }: { keyId: string; amounts: Amounts; nowMs: number },
  ): Excess | undefined {
    if (!limits) return undefined;
    const row = rows.get(keyId, nameOf(window, nowMs)) ?? NOTHING;
    for (const unit of UNITS) {
      const limit = limits[unit];
      if (limit === undefined) continue;
      const used = row[unit];
      // Nothing more is let in at the limit, even where the guess is that it costs nothing.
      if (used < limit && used + amounts[unit] <= limit) continue;
      return { window, unit, limit, used, retryAfterMs: remainingMs(window, nowMs) };
    }
    return undefined;
  }
}

/** `2026-11-15T10:31`, `2026-11-15`, `total`: they sort by time. */
function nameOf(window: Window, nowMs: number): string {
  if (window === "total") return window;
  return new Date(nowMs).toISOString().slice(0, window === "day" ? 10 : 16);
}

function remainingMs(window: Window, nowMs: number): number | undefined {
  return window === "total" ? undefined : WINDOW_MS[window] - (nowMs % WINDOW_MS[window]);
}

function mapUnits(amount: (unit: keyof Amounts) => number): Amounts {
  return { requests: amount("requests"), tokens: amount("tokens"), usd: amount("usd") };
}

function isAny({ requests, tokens, usd }: Amounts): boolean {
  return requests !== 0 || tokens !== 0 || usd !== 0;
}
