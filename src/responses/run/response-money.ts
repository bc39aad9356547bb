/**
 * Decides who pays for a response. The usage of a stored response is written with its ending, so that it is booked
 * once, whichever process ends it. No process continues a response that is not stored: it is booked here, when its
 * body has ended.
 */

import type { Account, Purse } from "../../agent/account.ts";
import type { RunContext, RunOutcome } from "../../engine/engine.ts";
import { NO_USAGE, type Usage } from "../../protocol/usage.ts";
import type { ResponseWish } from "../request/response-wish.ts";

export interface ResponseMoney {
  readonly charge?: Charge | undefined;
  readonly settle?: Settle | undefined;
  readonly openPurse?: OpenPurse | undefined;
}

/** Books usage on the key of the request, at once. Ends the purse of the run, if it has one. */
export type Charge = (keyId: string, used: Charged, runId?: string) => Promise<void>;

/** Returns what the ending of a run books, and whom it notifies. Books nothing itself. */
export type Settle = (
  keyId: string,
  used: Charged,
  runId: string,
) => Pick<RunOutcome, "settles" | "onEnded">;

/** The source of a response's budget; undefined for a key without limits on money. */
export type OpenPurse = (keyId: string, runId: string) => Promise<Purse | undefined>;

export interface Charged {
  readonly tokens: number;
  readonly usd: number;
  /** Tokens among them whose price is not known. */
  readonly unpriced?: number | undefined;
}

interface Spender {
  readonly account: Pick<Account, "spent">;
  readonly costOf: (usage: Usage) => number | undefined;
}

/** A missing price may also be that of a subagent's model; then the ending has no cost. */
export function toCharged({ account, costOf }: Spender, { events }: RunOutcome): Charged {
  const { tokens, usd } = account.spent;
  const end = events.find((event) => event.type === "run_end");
  const isKnown =
    costOf(NO_USAGE) !== undefined && (end?.ending !== "completed" || end.cost_usd !== null);
  return { tokens, usd, unpriced: isKnown ? 0 : tokens };
}

interface Ended {
  readonly context: RunContext;
  readonly wish: Pick<ResponseWish, "key_id" | "store">;
  /** With all runs below it; undefined if it could not begin. */
  readonly used: Charged | undefined;
}

/**
 * The outcome with what its key pays. Every ending has a price, also a cancelled or failed one; a process that
 * continues a run books the whole run.
 */
export async function payFor(
  outcome: RunOutcome,
  { charge, settle }: ResponseMoney,
  { context, wish, used = NOTHING }: Ended,
): Promise<RunOutcome> {
  const { key_id, store } = wish;
  if (key_id === null) return outcome;
  if (store) return { ...outcome, ...settle?.(key_id, used, context.id) };
  await charge?.(key_id, used, context.id);
  return outcome;
}

const NOTHING: Charged = { tokens: 0, usd: 0 };
