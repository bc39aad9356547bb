/**
 * The budgets of keys, while responses spend them: each response has a purse that is filled from what
 * its key has left, and is charged when it ends. What is set aside is in the record, so that the
 * responses of all processes together keep to it, and one that another process takes over has it again.
 */

import type { Purse } from "../../agent/account.ts";
import type { Clock } from "../../base/clock.ts";
import type { Held } from "../../store/holds.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { Amounts, Spending } from "../../store/spending.ts";
import { isCounted, type Key, type KeyLimits, toSpendingLimits } from "./key.ts";
import { findKey } from "./keys.ts";

/** Books what a response has used, and ends what it held. */
export type Charge = (
  keyId: string,
  used: Omit<Amounts, "requests">,
  runId?: string,
) => Promise<void>;

/** Undefined for a key that has no budget. */
export type OpenPurse = (keyId: string, runId: string) => Promise<Purse | undefined>;

export interface Budgets {
  readonly charge: Charge;
  readonly openPurse: OpenPurse;
  /** What is known of a key: one without limits costs no query. One that is not known is booked. */
  note(key: Key): void;
  /** Says which holds are still on their way here, and removes those that are on nobody's. */
  sweep(): Promise<void>;
}

interface BudgetParts {
  readonly spending: Spending;
  readonly shelf: Shelf;
  readonly clock: Clock;
}

/** Several times as long as a process is ever busy between two sweeps. */
const ABANDONED_MS = 600_000;

export function createBudgets({ spending, shelf, clock }: BudgetParts): Budgets {
  const known = new Map<string, KeyLimits>();
  /** Runs of this process that have a purse. */
  const open = new Set<string>();

  async function limitsOf(keyId: string): Promise<KeyLimits> {
    return known.get(keyId) ?? (await findKey(shelf, keyId))?.limits ?? {};
  }
  return {
    note: ({ id, limits }) => void known.set(id, limits),
    async charge(keyId, { tokens, usd }, runId) {
      const limits = known.get(keyId);
      if (limits && !isCounted(limits)) return;
      const holdId = runId !== undefined && open.delete(runId) ? runId : undefined;
      if (holdId === undefined && tokens === 0 && usd === 0) return;
      const nowMs = clock.now();
      await spending.settle(keyId, { tokens, usd }, { takenMs: nowMs, nowMs, holdId });
    },
    async openPurse(keyId, runId) {
      const limits = await limitsOf(keyId);
      if (!hasBudget(limits)) return undefined;
      open.add(runId);
      return createPurse({ spending, clock, keyId, runId, limits });
    },
    async sweep() {
      const nowMs = clock.now();
      await spending.keepHolds([...open], nowMs);
      await spending.dropHolds(nowMs - ABANDONED_MS);
    },
  };
}

/** What is left of days and of all time can be set aside; minutes are over before a response is. */
const BUDGETS = ["tokens_per_day", "usd_per_day", "usd_total"] as const;

export function hasBudget(limits: KeyLimits): boolean {
  return BUDGETS.some((name) => limits[name] !== undefined);
}

interface PurseParts extends Pick<BudgetParts, "spending" | "clock"> {
  readonly keyId: string;
  readonly runId: string;
  readonly limits: KeyLimits;
}

function createPurse({ spending, clock, keyId, runId, limits }: PurseParts): Purse {
  const weighed = toSpendingLimits(limits, ["tokens", "usd"]);
  const hold = (least: Held, most: Held): Held =>
    spending.hold(keyId, { id: runId, least, most }, weighed, clock.now());
  // A run that was taken over has what it had before.
  let held = hold(NOTHING, NOTHING);
  const hasTokens = limits.tokens_per_day !== undefined;
  const hasUsd = limits.usd_per_day !== undefined || limits.usd_total !== undefined;
  return {
    get given() {
      return { ...(hasTokens && { tokens: held.tokens }), ...(hasUsd && { usd: held.usd }) };
    },
    raise(least, most) {
      const isTokens = hasTokens && most.tokens > held.tokens;
      const isUsd = hasUsd && most.usd > held.usd;
      if (isTokens || isUsd) held = hold(least, most);
    },
  };
}

const NOTHING: Held = { tokens: 0, usd: 0 };
