/**
 * The budgets of keys while responses spend them. Each response has a purse that is filled from the remaining budget
 * of its key, and the key is charged when the response ends. Reserved amounts are in the record. So the responses of
 * all processes together stay within the budget, and a response that another process takes over keeps its
 * reservation.
 */

import { createAccount } from "../../agent/account.ts";
import { NO_LIMITS } from "../../agent/limits.ts";
import { createPayer, type Payer } from "../../agent/payer.ts";
import type { Clock } from "../../base/clock.ts";
import { makeId } from "../../base/ids.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import type { Charge, OpenPurse, Settle } from "../../responses/run/response-money.ts";
import type { Shelf } from "../../store/shelf.ts";
import type { Amounts, Spending } from "../../store/spending.ts";
import { type ClientKey, isCounted, type KeyLimits, REMEMBERED_MS } from "./key.ts";
import { openKeyPurse } from "./key-purse.ts";
import type { FoundClientKey } from "./key-ring.ts";
import { findKey } from "./keys.ts";
import { createTally } from "./tally.ts";

export interface Budgets {
  readonly charge: Charge;
  /** For a run that is stored. It is booked with its ending, which also ends its hold. */
  readonly settle: Settle;
  readonly openPurse: OpenPurse;
  /** Pays for single calls of a key: each call holds and books its own cost. */
  readonly payerOf: (keyId: string) => Payer;
  /**
   * Remembers the key for some seconds, so that a key without limits costs no query. An unknown key is booked as if
   * it had limits.
   */
  note(found: FoundClientKey): void;
  limitsOf(keyId: string): Promise<KeyLimits>;
  /** Counts requests of a key that has no limit of requests, tokens or dollars. */
  countRequests(keyId: string, requests: number): void;
  /** Writes the counts that are not written yet. */
  flush(): Promise<void>;
  /** Renews the holds of this process, and removes the holds of runs that no process works on. */
  sweep(isRunning: IsRunning): Promise<void>;
}

/** True if any process works on the run. The engine is asked, because only it knows. */
export type IsRunning = (runId: string) => Promise<boolean>;

interface BudgetParts {
  readonly spending: Spending;
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** Called with what each key uses, when that is booked. */
  readonly onUse?: OnUse | undefined;
}

export type OnUse = (who: KeyOwner, used: Partial<Amounts>) => void;

/** A key and its tenant. */
interface KeyOwner {
  readonly keyId: string;
  readonly tenant: string;
}

/** Several times as long as a process is ever busy between two sweeps. */
const ABANDONED_MS = 600_000;
/** Number of holds, possibly abandoned, that are looked at together. */
const PAGE = 100;

export function createBudgets(parts: BudgetParts): Budgets {
  const { spending, clock, onUse } = parts;
  const tally = createTally(parts);
  const keys = createKnownKeys(parts);
  /** Runs of this process that have a purse. */
  const open = new Set<string>();

  async function limitsOf(keyId: string): Promise<KeyLimits> {
    return (await keys.find(keyId))?.limits ?? {};
  }
  function tell(keyId: string, key: ClientKey | undefined, used: Partial<Amounts>): void {
    onUse?.({ keyId, tenant: key?.tenant ?? DEFAULT_TENANT }, used);
  }
  const settle: Settle = (keyId, { tokens, usd, unpriced = 0 }, runId) => {
    const used = { tokens, usd, unpriced };
    const tellUse = async (): Promise<void> =>
      tell(keyId, keys.get(keyId) ?? (await keys.find(keyId)), used);
    const onEnded = (): void => {
      open.delete(runId);
      // The usage is booked. If this fails, only the metrics of this process lack it.
      void tellUse().catch(() => {});
    };
    return { settles: { keyId, used, nowMs: clock.now() }, onEnded };
  };
  const charge: Charge = async (keyId, used, runId) => {
    const key = keys.get(keyId) ?? (await keys.find(keyId));
    const { tokens, usd, unpriced = 0 } = used;
    const isAny = tokens > 0 || usd > 0;
    if (isAny) tell(keyId, key, { tokens, usd, unpriced });
    // The run's key may have lost its limits meanwhile; the hold ends all the same.
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
    const endLate = async (): Promise<void> => {
      const nowMs = clock.now();
      if (open.has(runId)) return;
      await spending.settle(keyId, {}, { takenMs: nowMs, nowMs, holdId: runId });
    };
    return await openKeyPurse({ spending, clock, keyId, runId, limits, endLate });
  };
  return {
    charge,
    settle,
    openPurse,
    payerOf: (keyId) => createKeyPayer(keyId, { charge, openPurse }),
    limitsOf,
    note: keys.note,
    countRequests: (keyId, requests) => tally.add(keyId, { requests }),
    flush: () => tally.flush(),
    async sweep(isRunning) {
      await tally.flush();
      const nowMs = clock.now();
      await spending.keepHolds([...open], nowMs);
      await dropAbandoned(spending, nowMs - ABANDONED_MS, isRunning);
    },
  };
}

interface KnownKeys {
  /** The key as last noted, however long ago. */
  get(keyId: string): ClientKey | undefined;
  find(keyId: string): Promise<ClientKey | undefined>;
  note(found: FoundClientKey): void;
}

function createKnownKeys({ shelf, clock }: Pick<BudgetParts, "shelf" | "clock">): KnownKeys {
  const known = new Map<string, FoundClientKey>();
  const note = (found: FoundClientKey): void => void known.set(found.key.id, found);
  return {
    get: (keyId) => known.get(keyId)?.key,
    /**
     * The key of the environment is not in the record: it has no limits, and is noted with each of its requests.
     */
    async find(keyId) {
      const noted = known.get(keyId);
      if (noted && noted.untilMs > clock.now()) return noted.key;
      const key = await findKey(shelf, keyId);
      if (!key) return noted?.key;
      note({ key, untilMs: clock.now() + REMEMBERED_MS });
      return key;
    },
    note,
  };
}

function createKeyPayer(
  keyId: string,
  { charge, openPurse }: Pick<Budgets, "charge" | "openPurse">,
): Payer {
  return {
    async pay(most, call) {
      const id = makeId("pay");
      let account = createAccount(NO_LIMITS);
      try {
        account = createAccount(NO_LIMITS, await openPurse(keyId, id));
        return await createPayer(account).pay(most, call);
      } finally {
        const { tokens, usd } = account.spent;
        await charge(keyId, { tokens, usd, unpriced: most.usd === undefined ? tokens : 0 }, id);
      }
    },
  };
}

/** Only budgets of a day and of all time can be reserved. A minute is over before a response is. */
const BUDGETS = ["tokens_per_day", "usd_per_day", "usd_total"] as const;

export function hasBudget(limits: KeyLimits): boolean {
  return BUDGETS.some((name) => limits[name] !== undefined);
}

/**
 * A run that has ended never starts again, so a delay between the question and the removal is harmless.
 */
async function dropAbandoned(
  spending: Spending,
  beforeMs: number,
  isRunning: IsRunning,
): Promise<void> {
  let after: string | undefined;
  do {
    const ids = await spending.listStaleHolds({ beforeMs, after, limit: PAGE });
    const ended: string[] = [];
    for (const id of ids) if (!(await isRunning(id))) ended.push(id);
    await spending.dropHolds(ended, beforeMs);
    after = ids.length < PAGE ? undefined : ids.at(-1);
  } while (after !== undefined);
}
