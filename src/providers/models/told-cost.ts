/**
 * The cost of an answer if the vendor reports it in its usage: OpenRouter (`cost`), Perplexity
 * (`cost.total_cost`) and xAI (`cost_in_usd_ticks`). It is the charged amount, with discounts and the
 * vendor's own tools, so it replaces a price by tokens.
 */

import type { ModelEvent } from "../../protocol/model-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { ModelCall } from "../provider.ts";
import { either, flag, loose, number, object, type Shaped } from "../shape.ts";
import { MODELS } from "./model-table.ts";

/** The fields of a usage, for the shapes of wires whose vendors report it. */
export const TOLD_COST = {
  cost: loose(either(number, object({ total_cost: loose(number) }))),
  cost_in_usd_ticks: loose(number),
  /** True if the user's own key with the model's maker paid for the answer, in addition to the router. */
  is_byok: loose(flag),
  cost_details: loose(object({ upstream_inference_cost: loose(number) })),
};

const USAGE = object(TOLD_COST);
type ToldUsage = Shaped<typeof USAGE>;

/** xAI counts in parts of a dollar. */
const TICKS_PER_USD = 10_000_000_000;

/** The cost for an answer's `end`. */
export function toToldCost(usage: ToldUsage): { readonly cost_usd?: number } {
  const cost_usd = readCost(usage);
  return cost_usd === undefined ? {} : { cost_usd };
}

/** US dollars; undefined if the vendor does not report them. */
export function readCost(usage: ToldUsage): number | undefined {
  const { cost, cost_in_usd_ticks: ticks, is_byok, cost_details } = usage;
  const upstream = is_byok ? (cost_details?.upstream_inference_cost ?? 0) : 0;
  const told = typeof cost === "number" ? cost + upstream : cost?.total_cost;
  const usd = told ?? (typeof ticks === "number" ? ticks / TICKS_PER_USD : undefined);
  return usd !== undefined && usd >= 0 ? usd : undefined;
}

/**
 * The most that an answer may cost beside its tokens: for many searches, a picture, or a vendor's long
 * research.
 */
export const MOST_BESIDE_USD = 20;
/** How much more expensive than the most expensive known model an unknown one may be. */
export const DEARER = 10;

/**
 * The events without a reported cost that is impossible: a vendor's error in one number must not use up the
 * budget of a key. The answer then costs what its tokens cost, and a notice says so.
 */
export function dropAbsurdCost(
  events: readonly ModelEvent[],
  { notice }: Pick<ModelCall, "notice">,
): readonly ModelEvent[] {
  const end = events.at(-1);
  if (end?.type !== "end" || end.cost_usd === undefined) return events;
  const { cost_usd, ...rest } = end;
  const most = toMostUsd(end.usage);
  if (cost_usd <= most) return events;
  const message = `The vendor says that this answer cost $${cost_usd.toPrecision(3)}. That is more than its ${end.usage.total_tokens} tokens can cost ($${most.toFixed(2)}), so this price is not used.`;
  notice?.({ code: "cost", message });
  return [...events.slice(0, -1), rest];
}

function toMostUsd({ total_tokens }: Usage): number {
  return MOST_BESIDE_USD + (total_tokens / 1_000_000) * toDearest() * DEARER;
}

let dearest: number | undefined;

/** USD per million tokens of the most expensive model in the table. */
function toDearest(): number {
  dearest ??= MODELS.reduce((most, { price }) => {
    if (!price) return most;
    const { inputFactor = 1, outputFactor = 1 } = price.long ?? {};
    return Math.max(most, price.input * inputFactor, price.output * outputFactor);
  }, 0);
  return dearest;
}
