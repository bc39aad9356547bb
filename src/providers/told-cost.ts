/**
 * What an answer cost, where the vendor says so in its usage: OpenRouter (`cost`), Perplexity
 * (`cost.total_cost`) and xAI (`cost_in_usd_ticks`). It is what is charged, with discounts and the
 * vendor's own tools in it, so it counts in place of a price by tokens.
 */

import { either, flag, loose, number, object, type Shaped } from "./shape.ts";

/** The fields of a usage, for the shapes of wires whose vendors say it. */
export const TOLD_COST = {
  cost: loose(either(number, object({ total_cost: loose(number) }))),
  cost_in_usd_ticks: loose(number),
  /** Whether the user's own key with the model's maker paid for the answer, beside the router. */
  is_byok: loose(flag),
  cost_details: loose(object({ upstream_inference_cost: loose(number) })),
};

const USAGE = object(TOLD_COST);
type ToldUsage = Shaped<typeof USAGE>;

/** xAI counts in parts of a dollar. */
const TICKS_PER_USD = 10_000_000_000;

/** For an answer's `end`. */
export function toToldCost(usage: ToldUsage): { readonly cost_usd?: number } {
  const cost_usd = readCost(usage);
  return cost_usd === undefined ? {} : { cost_usd };
}

/** US dollars; undefined where the vendor does not say. */
export function readCost(usage: ToldUsage): number | undefined {
  const { cost, cost_in_usd_ticks: ticks, is_byok, cost_details } = usage;
  const upstream = is_byok ? (cost_details?.upstream_inference_cost ?? 0) : 0;
  const told = typeof cost === "number" ? cost + upstream : cost?.total_cost;
  const usd = told ?? (typeof ticks === "number" ? ticks / TICKS_PER_USD : undefined);
  return usd !== undefined && usd >= 0 ? usd : undefined;
}
