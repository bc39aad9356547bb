/**
 * The budgets of keys, while responses spend them: each response has a purse that is filled from what
 * its key has left, and is charged when it ends. What is set aside is in the record, so that the
 * responses of all processes together keep to it, and one that another process takes over has it again.
 */

import { createAccount, type Lacking, type Purse } from "../../agent/account.ts";
import { NO_LIMITS, toFigure } from "../../agent/limits.ts";
import { createPayer, type Payer } from "../../agent/payer.ts";
import { whenFree } from "../../base/busy.ts";
import type { Clock } from "../../base/clock.ts";
import { makeId } from "../../base/ids.ts";
import type { Held } from "../../store/holds.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { Amounts, Shortage, Spending, Window } from "../../store/spending.ts";
import { toDuration } from "./allowance.ts";
import { isCounted, type KeyLimits, REMEMBERED_MS, toSpendingLimits } from "./key.ts";
import type { FoundKey } from "./key-ring.ts";
import { DEFAULT_TENANT, findKey } from "./keys.ts";
import { createTally } from "./tally.ts";

/** Books what a response has used, and ends what it held. */
export type Charge = (keyId: string, used: Charged, runId?: string) => Promise<void>;

type Charged = Pick<Amounts, "tokens" | "usd"> & { readonly unpriced?: number | undefined };

/** Undefined for a key that has no budget. */
export type OpenPurse = (keyId: string, runId: string) => Promise<Purse | undefined>;

export interface Budgets {
  readonly charge: Charge;
  readonly openPurse: OpenPurse;
  /** Pays for single calls of a key: each holds and books by itself. */
  readonly payerOf: (keyId: string) => Payer;
  /** What is known of a key, for seconds: one without limits costs no query. One that is not known is booked. */
  note(found: FoundKey): void;
  limitsOf(keyId: string): Promise<KeyLimits>;
  /** Counts requests of a key that has no limit of requests, tokens or dollars. */
  countRequests(keyId: string, requests: number): void;
  /** Writes what was counted and not written yet. */
  flush(): Promise<void>;
  /** Says which holds are still on their way here, and removes those that are on nobody's. */
  sweep(): Promise<void>;
}

interface BudgetParts {
  readonly spending: Spending;
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** Told what each key uses, as it is booked. */
  readonly onUse?: OnUse | undefined;
}

export type OnUse = (who: KeyOwner, used: Partial<Amounts>) => void;

/** A key, and whose it is. */
interface KeyOwner {
  readonly keyId: string;
  readonly tenant: string;
}

/** Several times as long as a process is ever busy between two sweeps. */
const ABANDONED_MS = 600_000;

export function createBudgets(parts: BudgetParts): Budgets {
  const { spending, shelf, clock, onUse } = parts;
  const tally = createTally(parts);
  const known = new Map<string, FoundKey>();
  /** Runs of this process that have a purse. */
  const open = new Set<string>();

  /** A key of the environment is in no record: nothing of it is limited, and it is noted by its requests. */
  async function find(keyId: string): Promise<FoundKey | undefined> {
    const noted = known.get(keyId);
    if (noted && noted.untilMs > clock.now()) return noted;
    const key = await findKey(shelf, keyId);
    if (!key) return noted;
    const found = { key, untilMs: clock.now() + REMEMBERED_MS };
    known.set(keyId, found);
    return found;
  }
  async function limitsOf(keyId: string): Promise<KeyLimits> {
    return (await find(keyId))?.key.limits ?? {};
  }
  const charge: Charge = async (keyId, used, runId) => {
    const { key } = known.get(keyId) ?? (await find(keyId)) ?? {};
    const { tokens, usd, unpriced = 0 } = used;
    const isAny = tokens > 0 || usd > 0;
    if (isAny) onUse?.({ keyId, tenant: key?.tenant ?? DEFAULT_TENANT }, { tokens, usd, unpriced });
    // Its key may have lost its limits meanwhile: what is held ends all the same.
    const holdId = runId !== undefined && open.delete(runId) ? runId : undefined;
    if (holdId === undefined && !isAny) return;
    if (holdId === undefined && key && !isCounted(key.limits)) {
      tally.add(keyId, { tokens, usd, unpriced });
      return;
    }
    const nowMs = clock.now();
    await spending.settle(keyId, { tokens, usd, unpriced }, { takenMs: nowMs, nowMs, holdId });
  };
  const openPurse: OpenPurse = async (keyId, runId) => {
    const limits = await limitsOf(keyId);
    if (!hasBudget(limits)) return undefined;
    open.add(runId);
    return await whenFree(() => createPurse({ spending, clock, keyId, runId, limits }));
  };
  return {
    ...{ charge, openPurse },
    payerOf: (keyId) => ({
      async pay(most, call) {
        const id = makeId("pay");
        const account = createAccount(NO_LIMITS, await openPurse(keyId, id));
        try {
          return await createPayer(account).pay(most, call);
        } finally {
          const { tokens, usd } = account.spent;
          await charge(keyId, { tokens, usd, unpriced: most.usd === undefined ? tokens : 0 }, id);
        }
      },
    }),
    limitsOf,
    note: (found) => void known.set(found.key.id, found),
    countRequests: (keyId, requests) => tally.add(keyId, { requests }),
    flush: () => tally.flush(),
    async sweep() {
      await tally.flush();
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
    explain: () => explain(spending.weigh(keyId, runId, weighed, clock.now())),
  };
}

/** Nobody knows when another response ends, and what it gives back then. */
const RETRY_MS = 1000;

/** Of several limits the one that is nearest to its end. */
function explain(shortages: readonly Shortage[]): Lacking {
  const leftOf = ({ limit, used }: Shortage): number => Math.max(0, limit - used);
  const [nearest] = [...shortages].sort((a, b) => leftOf(a) / a.limit - leftOf(b) / b.limit);
  if (!nearest) return { message: "This key's budget is used up.", retryAfterMs: undefined };
  const { unit, window, limit, heldByOthers, retryAfterMs } = nearest;
  const left = `This key has ${toFigure(unit, leftOf(nearest))} of ${toFigure(unit, limit)} left ${TIMES[window]}`;
  if (heldByOthers > 0) {
    const message = `${left}, of which other responses have reserved ${toFigure(unit, heldByOthers)}. The rest does not pay for this request: ask for less, or ask again when they have ended.`;
    return { message, retryAfterMs: RETRY_MS };
  }
  const wait =
    retryAfterMs === undefined
      ? "This budget does not come back."
      : `There is more in ${toDuration(retryAfterMs)}.`;
  return { message: `${left}, which does not pay for this request. ${wait}`, retryAfterMs };
}

const TIMES: Readonly<Record<Window, string>> = {
  minute: "in this minute",
  day: "today (UTC)",
  total: "in all",
};

const NOTHING: Held = { tokens: 0, usd: 0 };
