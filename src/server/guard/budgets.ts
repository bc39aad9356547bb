/**
 * The budgets of keys, while responses spend them: each response has a purse that is filled from what
 * its key has left, and is charged when it ends. What is set aside is in the record, so that the
 * responses of all processes together keep to it, and one that another process takes over has it again.
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
import { isCounted, type Key, type KeyLimits, REMEMBERED_MS } from "./key.ts";
import { openKeyPurse } from "./key-purse.ts";
import type { FoundKey } from "./key-ring.ts";
import { findKey } from "./keys.ts";
import { createTally } from "./tally.ts";

export interface Budgets {
  readonly charge: Charge;
  /** For a run that is stored: booked with its ending, which ends what it held, too. */
  readonly settle: Settle;
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
  /** Says which holds are still on their way here, and removes those of runs that are on nobody's. */
  sweep(isRunning: IsRunning): Promise<void>;
}

/** Whether a run is on its way, in whichever process. Asked of the engine: it alone knows. */
export type IsRunning = (runId: string) => Promise<boolean>;

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
/** Of holds that may be abandoned, looked at together. */
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
  function tell(keyId: string, key: Key | undefined, used: Partial<Amounts>): void {
    onUse?.({ keyId, tenant: key?.tenant ?? DEFAULT_TENANT }, used);
  }
  const settle: Settle = (keyId, { tokens, usd, unpriced = 0 }, runId) => {
    const used = { tokens, usd, unpriced };
    const tellUse = async (): Promise<void> =>
      tell(keyId, keys.get(keyId) ?? (await keys.find(keyId)), used);
    const onEnded = (): void => {
      open.delete(runId);
      // It is booked: only the figures of this process would lack it.
      void tellUse().catch(() => {});
    };
    return { settles: { keyId, used, nowMs: clock.now() }, onEnded };
  };
  const charge: Charge = async (keyId, used, runId) => {
    const key = keys.get(keyId) ?? (await keys.find(keyId));
    const { tokens, usd, unpriced = 0 } = used;
    const isAny = tokens > 0 || usd > 0;
    if (isAny) tell(keyId, key, { tokens, usd, unpriced });
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
    const endLate = async (): Promise<void> => {
      const nowMs = clock.now();
      if (open.has(runId)) return;
      await spending.settle(keyId, {}, { takenMs: nowMs, nowMs, holdId: runId });
    };
    return await openKeyPurse({ spending, clock, keyId, runId, limits, endLate });
  };
  return {
    ...{ charge, settle, openPurse },
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
  /** As it was noted last, however long ago. */
  get(keyId: string): Key | undefined;
  find(keyId: string): Promise<Key | undefined>;
  note(found: FoundKey): void;
}

function createKnownKeys({ shelf, clock }: Pick<BudgetParts, "shelf" | "clock">): KnownKeys {
  const known = new Map<string, FoundKey>();
  const note = (found: FoundKey): void => void known.set(found.key.id, found);
  return {
    get: (keyId) => known.get(keyId)?.key,
    /** A key of the environment is in no record: nothing of it is limited, and it is noted by its requests. */
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

/** What is left of days and of all time can be set aside; minutes are over before a response is. */
const BUDGETS = ["tokens_per_day", "usd_per_day", "usd_total"] as const;

export function hasBudget(limits: KeyLimits): boolean {
  return BUDGETS.some((name) => limits[name] !== undefined);
}

/** A run that has ended never goes on again, so there is no hurry between asking and removing. */
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
