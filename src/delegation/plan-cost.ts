/**
 * The cost range of runs, from prices and limits alone; nothing is sent. The least is one model call that answers
 * nothing; the most is what the tightest limit allows. Pure.
 */

import type { Limits } from "../agent/limits.ts";
import { toUsage, type Usage } from "../protocol/usage.ts";

export interface PlannedModel {
  readonly contextTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
  /** USD; undefined if the price is not known, which is not the same as free. */
  costOf(usage: Usage): number | undefined;
}

export interface CostRange {
  /** Null if it cannot be known. */
  readonly least: number | null;
  readonly most: number | null;
  /** Why it cannot be known: the price is not known, or nothing limits it. */
  readonly unknown: "price" | "limit" | null;
}

interface Spending {
  readonly model: PlannedModel;
  readonly limits: Limits;
  /** The most model calls. */
  readonly calls: number;
  /** The input tokens of the first call. */
  readonly inputTokens: number;
}

/** The cost of one run by itself. */
export function toCostRange({ model, limits, calls, inputTokens }: Spending): CostRange {
  const least = model.costOf(toUsage({ input: inputTokens })) ?? null;
  const most = smallest([
    limits.usd,
    dearestTokens(model, limits.tokens),
    times(dearestCall(model), smallest([calls, limits.turns])),
  ]);
  return toRange(least, most, [model]);
}

interface TreeSpending {
  readonly limits: Limits;
  /** The run itself. */
  readonly own: CostRange;
  /** The runs that it may start, each by itself. */
  readonly below: readonly CostRange[];
  /** Every model that may be asked. */
  readonly models: readonly PlannedModel[];
  /** The most runs below it; null for any number. */
  readonly children: number | null;
}

/** The cost of a run with everything below it. */
export function toTreeRange(tree: TreeSpending): CostRange {
  const { limits, own, below, models, children } = tree;
  const each = largest(below.map(({ most }) => most));
  const most = smallest([
    limits.usd,
    largest(models.map((model) => dearestTokens(model, limits.tokens))),
    times(largest(models.map(dearestCall)), limits.turns),
    own.most === null || children === null ? null : plus(own.most, times(each, children)),
  ]);
  return toRange(own.least, most, models);
}

/** The most that a run and what it starts may spend under limits; null for any amount. */
export function toMostUsd(limits: Limits, model: PlannedModel): number | null {
  if (model.costOf(ONE_TOKEN) === 0) return 0;
  const calls = times(dearestCall(model), limits.turns);
  return smallest([limits.usd, dearestTokens(model, limits.tokens), calls]);
}

const ONE_TOKEN = toUsage({ input: 1, output: 1 });

function toRange(
  least: number | null,
  most: number | null,
  models: readonly PlannedModel[],
): CostRange {
  // The estimate of the input may be above a limit that then refuses the call.
  if (most !== null)
    return { least: least === null ? null : Math.min(least, most), most, unknown: null };
  const isPriced = models.every((model) => model.costOf(ONE_TOKEN) !== undefined);
  return { least, most, unknown: isPriced ? "limit" : "price" };
}

/** Tenths of the tokens that are output: the most expensive mix of output and long input is somewhere between. */
const SHARES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((tenths) => tenths / 10);

function dearestTokens(model: PlannedModel, tokens: number | null): number | null {
  if (tokens === null) return null;
  return largest(
    SHARES.map((share) => dearest(model, { input: tokens * (1 - share), output: tokens * share })),
  );
}

/** The cost of a call that fills the window. */
function dearestCall(model: PlannedModel): number | null {
  const { contextTokens: window, maxOutputTokens = window } = model;
  if (model.costOf(ONE_TOKEN) === 0) return 0;
  if (window === undefined || maxOutputTokens === undefined) return null;
  const output = Math.min(maxOutputTokens, window);
  return dearest(model, { input: window - output, output });
}

/** The cost with all of the input written to the vendor's cache, if that is higher. */
function dearest(
  { costOf }: PlannedModel,
  { input, output }: { readonly input: number; readonly output: number },
): number | null {
  const plain = costOf(toUsage({ input, output })) ?? null;
  const written = costOf(toUsage({ input, cacheWrite: input, output })) ?? null;
  return largest([plain, written]);
}

function smallest(amounts: readonly (number | null)[]): number | null {
  const known = amounts.filter((amount) => amount !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Null if one of them may be anything. */
function largest(amounts: readonly (number | null)[]): number | null {
  return amounts.includes(null) ? null : Math.max(0, ...amounts.filter((one) => one !== null));
}

function times(amount: number | null, count: number | null): number | null {
  if (amount === 0 || count === 0) return 0;
  return amount === null || count === null ? null : amount * count;
}

function plus(a: number, b: number | null): number | null {
  return b === null ? null : a + b;
}
