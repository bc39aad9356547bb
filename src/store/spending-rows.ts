/**
 * The rules of spending over rows: which window a moment is in, what a limit allows, how a hold grows. The rows are a
 * table of a database, or maps of this process.
 */

import { type Available, type HeldAmounts, type KeyHold, toHeld } from "./holds.ts";
import type {
  Amounts,
  ExceededLimit,
  KeyAmounts,
  Settlement,
  Settling,
  Shortage,
  Spending,
  SpendingLimits,
  StaleQuery,
  Window,
} from "./spending.ts";

/** The rows of reserved amounts. */
export interface HoldRows {
  holdsOf(keyId: string): readonly KeyHold[];
  putHold(keyId: string, hold: KeyHold, nowMs: number): void;
  endHold(id: string): void;
  keepHolds(ids: readonly string[], nowMs: number): void;
  listStaleHolds(query: StaleQuery): readonly string[];
  dropHolds(ids: readonly string[], beforeMs: number): void;
}

/** And what is used. Functions that write are called inside `transact`. */
export interface SpendingRows extends HoldRows {
  /** Runs `work` as one transaction: all of it or nothing, with no other in between. */
  transact<Out>(work: () => Out): Promise<Out>;
  get(keyId: string, window: string): Amounts | undefined;
  list(window: string): readonly KeyAmounts[];
  add(keyId: string, windows: readonly string[], more: Amounts): void;
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
const NO_HOLD: HeldAmounts = { tokens: 0, usd: 0 };
const NOTHING: Amounts = { requests: 0, tokens: 0, usd: 0, unpriced: 0 };

export function createRowSpending(rows: SpendingRows): Spending {
  return {
    async take(keyId, wanted, limits, nowMs) {
      const amounts = { ...NOTHING, ...wanted };
      return await rows.transact(() => {
        for (const window of WINDOWS) {
          const excess = findExcess(window, limits[window], { keyId, amounts, nowMs });
          if (excess) return excess;
        }
        rows.add(keyId, Object.values(nameWindows(nowMs)), amounts);
        return undefined;
      });
    },
    async settle(keyId, delta, settling) {
      await rows.transact(() => settleRows(rows, keyId, delta, settling));
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
      await rows.transact(() => rows.prune(nameOf("minute", beforeMs)));
    },
    async forget(keyId) {
      await rows.transact(() => rows.forget(keyId));
    },
  };

  function findExcess(
    window: Window,
    limits: Partial<Amounts> | undefined,
    { keyId, amounts, nowMs }: { keyId: string; amounts: Amounts; nowMs: number },
  ): ExceededLimit | undefined {
    if (!limits) return undefined;
    const row = rows.get(keyId, nameOf(window, nowMs)) ?? NOTHING;
    for (const unit of UNITS) {
      const limit = limits[unit];
      if (limit === undefined) continue;
      const used = row[unit];
      // At the limit nothing is admitted, even if the estimate is that it costs nothing.
      if (used < limit && used + amounts[unit] <= limit) continue;
      return { window, unit, limit, used, retryAfterMs: remainingMs(window, nowMs) };
    }
    return undefined;
  }
}

/** How a run's ending is booked. */
export function toSettling(runId: string, { nowMs }: Settlement): Settling {
  return { takenMs: nowMs, nowMs, holdId: runId };
}

/** Books inside a transaction: one of its own, or that of a run's ending. */
export function settleRows(
  rows: Pick<SpendingRows, "add" | "endHold">,
  keyId: string,
  delta: Partial<Amounts>,
  { takenMs, nowMs, holdId }: Settling,
): void {
  const back = mapUnits((unit) => Math.min(delta[unit] ?? 0, 0));
  const more = mapUnits((unit) => Math.max(delta[unit] ?? 0, 0));
  if (isAny(back)) rows.add(keyId, Object.values(nameWindows(takenMs)), back);
  if (isAny(more)) rows.add(keyId, Object.values(nameWindows(nowMs)), more);
  if (holdId !== undefined) rows.endHold(holdId);
}

type Holding = Pick<Spending, "hold" | "readHolds" | "keepHolds" | "listStaleHolds" | "dropHolds">;

function createHolding(rows: SpendingRows): Holding {
  return {
    async hold(keyId, wish, limits, nowMs) {
      return await rows.transact(() => {
        const all = rows.holdsOf(keyId);
        const before = all.find(({ id }) => id === wish.id) ?? NO_HOLD;
        const others = all.filter(({ id }) => id !== wish.id);
        const shortages = findShortages(rows, { keyId, limits, others, nowMs });
        const held = toHeld(wish, all, toAvailable(shortages));
        if (before.tokens !== held.tokens || before.usd !== held.usd) {
          rows.putHold(keyId, { id: wish.id, ...held }, nowMs);
        }
        return { held, shortages };
      });
    },
    readHolds: async (keyId) => rows.holdsOf(keyId),
    async keepHolds(ids, nowMs) {
      if (ids.length > 0) await rows.transact(() => rows.keepHolds(ids, nowMs));
    },
    listStaleHolds: async (query) => rows.listStaleHolds(query),
    async dropHolds(ids, beforeMs) {
      if (ids.length > 0) await rows.transact(() => rows.dropHolds(ids, beforeMs));
    },
  };
}

/** A response may take longer than a minute. */
const HOLD_WINDOWS = ["day", "total"] as const;
const HOLD_UNITS = ["tokens", "usd"] as const;

interface Weighed {
  readonly keyId: string;
  readonly limits: SpendingLimits;
  readonly others: readonly KeyHold[];
  readonly nowMs: number;
}

/** The limits that apply to holds, and how much of each is used and held by others. */
function findShortages(rows: SpendingRows, { keyId, limits, others, nowMs }: Weighed): Shortage[] {
  return HOLD_WINDOWS.flatMap((window) => {
    const ofWindow = limits[window];
    if (!ofWindow) return [];
    const row = rows.get(keyId, nameOf(window, nowMs)) ?? NOTHING;
    const retryAfterMs = remainingMs(window, nowMs);
    return HOLD_UNITS.flatMap((unit) => {
      const limit = ofWindow[unit];
      if (limit === undefined) return [];
      const heldByOthers = others.reduce((sum, hold) => sum + hold[unit], 0);
      return [{ window, unit, limit, used: row[unit], retryAfterMs, heldByOthers }];
    });
  });
}

function toAvailable(shortages: readonly Shortage[]): Available {
  const leftOf = (unit: keyof HeldAmounts): number =>
    shortages
      .filter((one) => one.unit === unit)
      .reduce((left, { limit, used }) => Math.min(left, limit - used), Number.POSITIVE_INFINITY);
  return { tokens: leftOf("tokens"), usd: leftOf("usd") };
}

/** The windows of a moment, by their names in the rows. */
export function nameWindows(nowMs: number): Readonly<Record<Window, string>> {
  const moment = new Date(nowMs).toISOString();
  return { minute: moment.slice(0, 16), day: moment.slice(0, 10), total: "total" };
}

/** `2026-11-15T10:31`, `2026-11-15`, `total`: they sort by time. */
function nameOf(window: Window, nowMs: number): string {
  return nameWindows(nowMs)[window];
}

function remainingMs(window: Window, nowMs: number): number | undefined {
  return window === "total" ? undefined : WINDOW_MS[window] - (nowMs % WINDOW_MS[window]);
}

export function mapUnits(amount: (unit: keyof Amounts) => number): Amounts {
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
