/**
 * What keys have used, by windows of time, and whether they may use more.
 *
 * `take` weighs and books in one transaction, so that two processes cannot both take the last of an
 * allowance. Before a request the price is a guess: `take` books the guess, `settle` what it was off
 * by. What is given back goes to the windows it was taken from; what was more counts now, or a long
 * answer would slip past the limits of the minute it ends in.
 *
 * What takes long has a hold, which grows while it goes on and ends with what it has used: so the sum of
 * what is used and held stays within the limits of days and of all time, in however many processes.
 */

import { type Available, type Held, type Hold, type HoldWish, toHeld } from "./holds.ts";
import type { Database } from "./sqlite/sqlite-database.ts";
import { fromColumn, toColumn } from "./sqlite/text-column.ts";

export interface Spending {
  /** Books the amounts, or tells which limit is in the way and books nothing. */
  take(
    keyId: string,
    amounts: Partial<Amounts>,
    limits: Limits,
    nowMs: number,
  ): Promise<Excess | undefined>;
  /** `delta` is what was used less what was taken, and may be negative. Ends the hold that it names. */
  settle(keyId: string, delta: Partial<Amounts>, settling: Settling): Promise<void>;
  /**
   * Raises a hold towards what is wished, as far as the limits of days and of all time allow, and gives
   * what it is then, all in all; 0 of what has no limit. At once: two who ask must not both be given
   * the same.
   */
  hold(keyId: string, wish: HoldWish, limits: Limits, nowMs: number): Held;
  readHolds(keyId: string): Promise<readonly Hold[]>;
  /** What keeps a hold from more than it has. At once, as `hold` is. */
  weigh(keyId: string, holdId: string, limits: Limits, nowMs: number): Shortage[];
  /** Says that these are still on their way. */
  keepHolds(ids: readonly string[], nowMs: number): Promise<void>;
  /** Removes holds that nobody has kept since, and whose run is not on its way in the record. */
  dropHolds(beforeMs: number): Promise<void>;
  /** What the key has used in the windows of this moment. */
  read(keyId: string, nowMs: number): Promise<Readonly<Record<Window, Amounts>>>;
  /** What every key has used: on the day (UTC) of a moment, or in all. */
  list(dayMs: number | undefined): Promise<readonly KeyAmounts[]>;
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
  /** Of the tokens, those whose price is not known: they add nothing to `usd`, as free ones do. */
  readonly unpriced: number;
}

export interface KeyAmounts extends Amounts {
  readonly keyId: string;
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

/** One of the limits that holds keep to, at this moment. */
export interface Shortage extends Excess {
  readonly unit: keyof Held;
  /** Set aside for others: they may give it back at any time. */
  readonly heldByOthers: number;
}

export interface Settling {
  /** The `nowMs` that `take` was given. */
  readonly takenMs: number;
  readonly nowMs: number;
  readonly holdId?: string | undefined;
}

export function createSpending(db: Database): Spending {
  return createOver({
    transact: (work) => db.transact("process", work),
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
    add(keyId, window, { requests, tokens, usd, unpriced }) {
      const sql = `insert into spending (key_id, window, requests, tokens, usd, unpriced)
        values (?, ?, ?, ?, ?, ?)
        on conflict do update set requests = requests + excluded.requests,
          tokens = tokens + excluded.tokens, usd = usd + excluded.usd,
          unpriced = unpriced + excluded.unpriced`;
      db.run(sql, toColumn(keyId), window, requests, tokens, usd, unpriced);
    },
    prune(before) {
      db.run("delete from spending where window like '%T%' and window < ?", before);
    },
    forget(keyId) {
      db.run("delete from spending where key_id = ?", toColumn(keyId));
      db.run("delete from holds where key_id = ?", toColumn(keyId));
    },
    ...createHoldRows(db),
  });
}

function createHoldRows(db: Database): HoldRows {
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
      const sql = `insert into holds (id, key_id, tokens, usd, beat_at_ms) values (?, ?, ?, ?, ?)
        on conflict do update set tokens = excluded.tokens, usd = excluded.usd,
          beat_at_ms = excluded.beat_at_ms`;
      db.run(sql, toColumn(id), toColumn(keyId), tokens, usd, nowMs);
    },
    endHold: (id) => void db.run("delete from holds where id = ?", toColumn(id)),
    keepHolds(ids, nowMs) {
      const sql = "update holds set beat_at_ms = ? where id in (select value from json_each(?))";
      db.run(sql, nowMs, JSON.stringify(ids.map(toColumn)));
    },
    dropHolds(beforeMs) {
      const sql = `delete from holds where beat_at_ms < ?
        and not exists (select 1 from runs where runs.id = holds.id and status = 'running')`;
      db.run(sql, beforeMs);
    },
  };
}

/** For servers that must touch no disk. */
export function createMemorySpending(): Spending {
  const keys = new Map<string, Map<string, Amounts>>();
  const holds = createMemoryHolds();
  return createOver({
    transact: (work) => work(),
    get: (keyId, window) => keys.get(keyId)?.get(window),
    list: (window) =>
      [...keys].flatMap(([keyId, windows]) => {
        const used = windows.get(window);
        return used ? [{ keyId, ...used }] : [];
      }),
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
    forget(keyId) {
      keys.delete(keyId);
      for (const { id } of holds.holdsOf(keyId)) holds.endHold(id);
    },
    ...holds,
  });
}

function createMemoryHolds(): HoldRows {
  const all = new Map<string, { readonly keyId: string; hold: Hold; beatMs: number }>();
  return {
    holdsOf: (keyId) =>
      [...all.values()].filter((row) => row.keyId === keyId).map(({ hold }) => hold),
    putHold: (keyId, hold, beatMs) => void all.set(hold.id, { keyId, hold, beatMs }),
    endHold: (id) => void all.delete(id),
    keepHolds(ids, nowMs) {
      for (const id of ids) {
        const row = all.get(id);
        if (row) row.beatMs = nowMs;
      }
    },
    dropHolds(beforeMs) {
      for (const [id, { beatMs }] of all) if (beatMs < beforeMs) all.delete(id);
    },
  };
}

/** The rows of `holds`. */
interface HoldRows {
  holdsOf(keyId: string): readonly Hold[];
  putHold(keyId: string, hold: Hold, nowMs: number): void;
  endHold(id: string): void;
  keepHolds(ids: readonly string[], nowMs: number): void;
  dropHolds(beforeMs: number): void;
}

/** The rows of `spending`. All but `transact` are called inside it. */
interface Rows extends HoldRows {
  transact<Out>(work: () => Out): Out;
  get(keyId: string, window: string): Amounts | undefined;
  list(window: string): readonly KeyAmounts[];
  add(keyId: string, window: string, more: Amounts): void;
  prune(before: string): void;
  forget(keyId: string): void;
}

const WINDOWS: readonly Window[] = ["minute", "day", "total"];
const UNITS = [
  "requests",
  "tokens",
  "usd",
  "unpriced",
] as const satisfies readonly (keyof Amounts)[];
const WINDOW_MS = { minute: 60_000, day: 86_400_000 };
const NO_HOLD: Held = { tokens: 0, usd: 0 };
const NOTHING: Amounts = { requests: 0, tokens: 0, usd: 0, unpriced: 0 };

function createOver(rows: Rows): Spending {
  return {
    async take(keyId, wanted, limits, nowMs) {
      const amounts = { ...NOTHING, ...wanted };
      return rows.transact(() => {
        for (const window of WINDOWS) {
          const excess = findExcess(window, limits[window], { keyId, amounts, nowMs });
          if (excess) return excess;
        }
        for (const window of WINDOWS) rows.add(keyId, nameOf(window, nowMs), amounts);
        return undefined;
      });
    },
    async settle(keyId, delta, { takenMs, nowMs, holdId }) {
      const back = mapUnits((unit) => Math.min(delta[unit] ?? 0, 0));
      const more = mapUnits((unit) => Math.max(delta[unit] ?? 0, 0));
      rows.transact(() => {
        for (const window of WINDOWS) {
          if (isAny(back)) rows.add(keyId, nameOf(window, takenMs), back);
          if (isAny(more)) rows.add(keyId, nameOf(window, nowMs), more);
        }
        if (holdId !== undefined) rows.endHold(holdId);
      });
    },
    ...createHolding(rows),
    async read(keyId, nowMs) {
      const used = (window: Window): Amounts => rows.get(keyId, nameOf(window, nowMs)) ?? NOTHING;
      return { minute: used("minute"), day: used("day"), total: used("total") };
    },
    async list(dayMs) {
      return rows.list(dayMs === undefined ? "total" : nameOf("day", dayMs));
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

type Holding = Pick<Spending, "hold" | "readHolds" | "weigh" | "keepHolds" | "dropHolds">;

function createHolding(rows: Rows): Holding {
  return {
    hold(keyId, wish, limits, nowMs) {
      return rows.transact(() => {
        const all = rows.holdsOf(keyId);
        const before = all.find(({ id }) => id === wish.id) ?? NO_HOLD;
        const held = toHeld(wish, all, findAvailable(rows, keyId, limits, nowMs));
        if (before.tokens !== held.tokens || before.usd !== held.usd) {
          rows.putHold(keyId, { id: wish.id, ...held }, nowMs);
        }
        return held;
      });
    },
    readHolds: async (keyId) => rows.holdsOf(keyId),
    weigh(keyId, holdId, limits, nowMs) {
      return rows.transact(() => {
        const others = rows.holdsOf(keyId).filter(({ id }) => id !== holdId);
        const heldBy = (unit: keyof Held): number =>
          others.reduce((sum, hold) => sum + hold[unit], 0);
        return HOLD_WINDOWS.flatMap((window) =>
          HOLD_UNITS.flatMap((unit) => {
            const limit = limits[window]?.[unit];
            if (limit === undefined) return [];
            const used = (rows.get(keyId, nameOf(window, nowMs)) ?? NOTHING)[unit];
            const retryAfterMs = remainingMs(window, nowMs);
            return [{ window, unit, limit, used, retryAfterMs, heldByOthers: heldBy(unit) }];
          }),
        );
      });
    },
    async keepHolds(ids, nowMs) {
      if (ids.length > 0) rows.transact(() => rows.keepHolds(ids, nowMs));
    },
    async dropHolds(beforeMs) {
      rows.transact(() => rows.dropHolds(beforeMs));
    },
  };
}

/** Minutes are over before a response is. */
const HOLD_WINDOWS = ["day", "total"] as const;
const HOLD_UNITS = ["tokens", "usd"] as const;

function findAvailable(rows: Rows, keyId: string, limits: Limits, nowMs: number): Available {
  const leftOf = (unit: keyof Held): number =>
    Math.min(
      ...HOLD_WINDOWS.map((window) => {
        const limit = limits[window]?.[unit];
        if (limit === undefined) return Number.POSITIVE_INFINITY;
        return limit - (rows.get(keyId, nameOf(window, nowMs)) ?? NOTHING)[unit];
      }),
    );
  return { tokens: leftOf("tokens"), usd: leftOf("usd") };
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
  return {
    requests: amount("requests"),
    tokens: amount("tokens"),
    usd: amount("usd"),
    unpriced: amount("unpriced"),
  };
}

function isAny(amounts: Amounts): boolean {
  return UNITS.some((unit) => amounts[unit] !== 0);
}
