/**
 * Reserves the most that a model call may cost, and makes the request that keeps to it.
 *
 * The input is estimated (`call-estimate.ts`), because only the vendor counts it; the output is limited by what is
 * left. So a budget is exceeded by the error of one estimate at most, and the next call is refused.
 */

import type { ModelRequest } from "../providers/provider.ts";
import { type Account, type Hold, takeDrawn } from "./account.ts";
import {
  affordable,
  estimateInput,
  isTold,
  type Priced,
  type Prices,
  price,
} from "./call-estimate.ts";
import type { Amount, Limits } from "./limits.ts";

/** A shorter answer says nothing useful. */
const MIN_OUTPUT_TOKENS = 16;

/**
 * An answer of ordinary length. A call waits until its siblings leave enough for one, and starts with less only if
 * they cannot.
 */
const USUAL_OUTPUT_TOKENS = 2048;

interface Gathering extends Prices {
  readonly signal: AbortSignal;
}

interface Drawing extends Prices {
  readonly signal?: AbortSignal | undefined;
}

/** A request, and the budget that is reserved for it. */
export interface HeldRequest {
  readonly request: ModelRequest;
  readonly hold: Hold;
}

/** Waits while there is too little for a call and siblings may still return what they do not use. */
export async function gatherCall(
  account: Account,
  request: Priced,
  { signal, ...prices }: Gathering,
): Promise<void> {
  const { enough, most } = toUsualCost(account.limits, request, prices);
  await account.gather(enough, most, signal);
}

/**
 * Reserves budget for a call. Rejects with `budget_exceeded` if the answer could say next to nothing; then nothing is
 * reserved.
 */
export async function holdCall(
  account: Account,
  request: ModelRequest,
  drawing: Drawing,
): Promise<HeldRequest> {
  const { limits } = account;
  if (limits.tokens === null && limits.usd === null) {
    return { request, hold: account.hold(ONE_TURN) };
  }
  return await takeAffordable(account, request, drawing, ({ output, cost }) => {
    const hold = account.hold({ turns: ONE_TURN.turns, ...cost });
    if (!Number.isFinite(output)) return { request, hold };
    const is_length_of_budget = request.max_output_tokens === undefined;
    return { request: { ...request, max_output_tokens: output, is_length_of_budget }, hold };
  });
}

/** Checks that a call can be paid for. Rejects as `holdCall` does, and reserves nothing. */
export async function checkAffordable(
  account: Account,
  request: Priced,
  drawing: Drawing,
): Promise<void> {
  await takeAffordable(account, request, drawing, () => {});
}

async function takeAffordable<Out>(
  account: Account,
  request: Priced,
  { signal, ...prices }: Drawing,
  take: (affordable: Affordable) => Out,
): Promise<Out> {
  const sized = toSized(request);
  const { least, most } = toBounds(account.limits, sized, prices);
  return await takeDrawn(account, { least, most, signal }, () =>
    take(afford(account, sized, prices)),
  );
}

/** The amounts that a model call takes from the limited kinds. */
export interface UsualCost {
  /** The amounts with an answer of ordinary length. */
  readonly enough: Partial<Amount>;
  /** The amounts with the shortest useful answer. */
  readonly least: Partial<Amount>;
  readonly most: Partial<Amount>;
}

export function toUsualCost(limits: Limits, request: Priced, prices: Prices): UsualCost {
  if (limits.tokens === null && limits.usd === null) {
    return { enough: ONE_TURN, least: ONE_TURN, most: ONE_TURN };
  }
  const { input, wanted } = toSized(request);
  const toCost = toCostOf(limits, input, prices);
  const toTurn = (output: number): Partial<Amount> => ({
    turns: ONE_TURN.turns,
    ...toCost(output),
  });
  return {
    enough: toTurn(Math.min(wanted, USUAL_OUTPUT_TOKENS)),
    least: toTurn(Math.min(wanted, MIN_OUTPUT_TOKENS)),
    most: toTurn(wanted),
  };
}

/** Returns a function from the length of an answer to what the call takes of the limited kinds. */
function toCostOf(
  limits: Limits,
  input: number,
  prices: Prices,
): (output: number) => Partial<Amount> {
  // A cost that the vendor reports with the answer is not known before.
  const isPriced = limits.usd !== null && !isTold(prices);
  return (output) => ({
    tokens: limits.tokens === null ? 0 : input + output,
    usd: isPriced ? price(prices, input, output) : 0,
  });
}

const ONE_TURN = { turns: 1 };

interface Affordable {
  /** How many tokens the answer may have; `Infinity` if they cost nothing. */
  readonly output: number;
  /** The most that the call takes of the limited kinds. */
  readonly cost: Partial<Amount>;
}

interface Bounds {
  /** The cost with the shortest useful answer. */
  readonly least: Partial<Amount>;
  /** The cost with the longest wanted answer. */
  readonly most: Partial<Amount>;
}

/** The size of a call in tokens. */
interface Sized {
  /** The estimated input. */
  readonly input: number;
  /** The longest answer that is wanted. */
  readonly wanted: number;
}

function toSized(request: Priced): Sized {
  const { max_output_tokens: wanted = Number.POSITIVE_INFINITY } = request;
  return { input: estimateInput(request), wanted };
}

/** Computes what must be available for a call, and the most it would take. */
function toBounds(limits: Limits, { input, wanted }: Sized, prices: Prices): Bounds {
  const toCost = toCostOf(limits, input, prices);
  const least = toCost(MIN_OUTPUT_TOKENS);
  const most = toCost(wanted);
  if (limits.usd === null || !isTold(prices)) return { least, most };
  // A call whose price comes with its answer reserves all that is left.
  return {
    least: { ...least, usd: LEAST_USD },
    most: { ...most, usd: Number.POSITIVE_INFINITY },
  };
}

/**
 * Computes what the account can pay for; reserves nothing yet. Throws `Failure("budget_exceeded")` if the answer could
 * say next to nothing.
 */
function afford(account: Account, sized: Sized, prices: Prices): Affordable {
  const { input, wanted } = sized;
  const { limits } = account;
  const { least, most } = toBounds(limits, sized, prices);
  account.reach(least, most);
  const { left } = account;
  const refuse = (): void => account.hold(least).release();
  if (limits.usd !== null && isTold(prices)) {
    // No other call of the account runs beside this one: a limit in dollars is exceeded by one call at most.
    const output = Math.min(wanted, left.tokens - input);
    if (output < MIN_OUTPUT_TOKENS || left.usd < LEAST_USD) refuse();
    const tokens = limits.tokens === null ? 0 : input + output;
    return { output, cost: { tokens, usd: left.usd } };
  }
  const toCost = toCostOf(limits, input, prices);
  const output = Math.min(wanted, left.tokens - input, affordable(left.usd, input, prices));
  // Throws with the name of the limit that is used up.
  if (output < MIN_OUTPUT_TOKENS) refuse();
  const cost = toCost(output);
  // A rounding error in the last cent must not refuse a call that was found to fit.
  return { output, cost: { ...cost, usd: Math.min(cost.usd ?? 0, left.usd) } };
}

/** With less than this a call of unknown price is not started. */
const LEAST_USD = 0.0001;
