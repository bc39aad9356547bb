/** What a model call may cost: its input, estimated by the length of its JSON, and the price of tokens. */

import { Failure } from "../base/failure.ts";
import { countJsonChars } from "../base/json-size.ts";
import { weighText } from "../base/text-weight.ts";
import type { Item } from "../protocol/items.ts";
import { NO_USAGE, toUsage, type Usage } from "../protocol/usage.ts";
import type { ModelRequest } from "../providers/provider.ts";
import type { Limits } from "./limits.ts";

/** Fewer than ordinary text has; code has fewer still. */
const CHARS_PER_TOKEN = 3;

export interface Prices {
  readonly costOf: (usage: Usage) => number | undefined;
  /** True if each answer of the model reports its cost. */
  readonly tellsCost?: boolean | undefined;
}

/** True if the model's output costs nothing. */
export function isFree({ costOf }: Pick<Prices, "costOf">): boolean {
  return costOf(ONE_TOKEN) === 0;
}

const ONE_TOKEN = toUsage({ input: 1, output: 1 });

/** The fields of a request that decide its cost. */
export type Priced = Pick<ModelRequest, "items" | "instructions" | "tools" | "max_output_tokens">;

export function isTold({ costOf, tellsCost }: Prices): boolean {
  return tellsCost === true && costOf(NO_USAGE) === undefined;
}

/** Estimates input tokens by the length of the JSON. Each item is measured once, however many calls send it. */
export function estimateInput({ items, instructions, tools }: Priced): number {
  const chars = items.reduce((sum, item) => sum + charsOf(item), 0);
  return toTokens(chars + countJsonChars([instructions ?? "", tools], weighText));
}

/** The sizes of items that were measured. Items do not change. */
const known = new WeakMap<Item, number>();

function charsOf(item: Item): number {
  const found = known.get(item);
  if (found !== undefined) return found;
  const chars = countJsonChars(item, weighText);
  known.set(item, chars);
  return chars;
}

/** About how many tokens this many characters are. */
export function toTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** How many output tokens the remaining money pays for. */
export function affordable(usd: number, input: number, prices: Prices): number {
  if (usd === Number.POSITIVE_INFINITY) return usd;
  const each = price(prices, 0, 1_000_000) / 1_000_000;
  if (each === 0) return Number.POSITIVE_INFINITY;
  return Math.floor((usd - price(prices, input, 0)) / each);
}

export function price({ costOf }: Prices, input: number, output: number): number {
  const cost = costOf(toUsage({ input, output }));
  // Any number of free tokens costs nothing.
  if (cost !== undefined) return Number.isNaN(cost) ? price({ costOf }, input, 0) : cost;
  throw toUnknownPrice();
}

export function toUnknownPrice(): Failure {
  return new Failure("budget_exceeded", UNKNOWN_PRICE);
}

const UNKNOWN_PRICE =
  "The model's price is not known, so no limit in US dollars can be kept. Limit tokens instead, or set its price in the settings (`models`).";

/** Before anything is sent: refuses a limit in dollars on a model without a known price. */
export function checkPriced(limits: Pick<Limits, "usd">, prices: Prices): void {
  if (limits.usd === null || prices.costOf(NO_USAGE) !== undefined || isTold(prices)) return;
  throw new Failure("invalid_request", UNKNOWN_PRICE, { param: "model" });
}

/** Null as soon as one price is not known. */
export function addCost(sum: number | null, turn: number | null): number | null {
  return sum === null || turn === null ? null : sum + turn;
}
