/**
 * Facts about a model: sizes, price, abilities, and the parameters that it refuses.
 *
 * An unknown model can do everything, refuses nothing and has an unknown price, because the vendor knows
 * better than an old table. A user's config overrides any field of any row.
 */

import type { Usage } from "../../protocol/usage.ts";
import { keepOptions } from "../known-options.ts";
import { type ModelRequest, type ReasoningOptions, toParameter } from "../provider.ts";
import { nativeCostOf } from "../vendors/native-tools.ts";
import type { Model, ModelEffort, RefusedParameter } from "./facts.ts";
import { MODELS } from "./model-table.ts";

/** A row of a user's config: the name, and the fields that differ. */
export type ModelOverride = Pick<Model, "vendor" | "name"> & Partial<Model>;

/**
 * The longest match is used. Matching overrides are merged into it, the longest last. `like` is the vendor
 * of ours that a vendor in the settings resembles.
 */
export function findModel(
  vendor: string,
  name: string,
  overrides: readonly ModelOverride[] = [],
  like?: string | undefined,
): Model {
  const known = bestMatch(MODELS, vendor, name) ?? (like ? lend(like, name) : borrow(vendor, name));
  const base = known ?? { ...UNKNOWN, vendor, name };
  const own = overrides
    .map((row) => ({ row, score: matchScore(row, vendor, name) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => a.score - b.score);
  return Object.assign({}, base, ...own.map(({ row }) => row), { vendor, name });
}

/** The vendors whose rows name this model, in the table's order. Families and `*` rows do not count. */
export function vendorsOfModel(name: string): string[] {
  const rows = MODELS.filter((row) => !row.name.endsWith("*"));
  return [
    ...new Set(rows.filter((row) => matchScore(row, row.vendor, name) > 0).map((r) => r.vendor)),
  ];
}

/** Anthropic's price for input that is cached for an hour, as a multiple of plain input. */
const HOUR_FACTOR = 2;

/** USD for one answer; undefined if the price is unknown. */
export function costOf(model: Model, usage: Usage): number | undefined {
  const native = nativeCostOf(model, usage.native_calls);
  const { price } = model;
  if (!price || native === undefined) return undefined;
  const { cached_tokens, cache_write_tokens } = usage.input_tokens_details;
  const hour = usage.input_tokens_details.cache_write_hour_tokens ?? 0;
  const plain = Math.max(0, usage.input_tokens - cached_tokens - cache_write_tokens);
  const isLong = price.long !== undefined && usage.input_tokens > price.long.aboveTokens;
  const input =
    plain * price.input +
    cached_tokens * (price.cached ?? price.input) +
    (cache_write_tokens - hour) * (price.cacheWrite ?? price.input) +
    hour * HOUR_FACTOR * price.input -
    (usage.input_tokens_details.unbilled_tokens ?? 0) * price.input;
  const { unbilled_tokens: unbilled = 0 } = usage.output_tokens_details;
  const billed = Math.max(0, usage.output_tokens - unbilled);
  const output = billed * price.output;
  const [inputFactor, outputFactor] =
    isLong && price.long ? [price.long.inputFactor, price.long.outputFactor] : [1, 1];
  return (Math.max(0, input) * inputFactor + output * outputFactor) / 1_000_000 + native;
}

/**
 * The request without what the model refuses, and the names of what was left out or changed, for the
 * record.
 */
export function dropRefused(
  { refuses }: Model,
  request: ModelRequest,
): { request: ModelRequest; dropped: readonly string[] } {
  if (refuses.length === 0) return { request, dropped: [] };
  const dropped: string[] = [];
  const drop = (name: string): undefined => {
    dropped.push(name);
    return undefined;
  };
  const reasoning = dropReasoning(refuses, request.reasoning, drop);
  const sampling = refuses.includes("sampling_while_reasoning") && reasoning.effort !== "none";
  let { temperature, top_p, parallel_tool_calls } = request;
  if (temperature !== undefined && (sampling || refuses.includes("temperature"))) {
    temperature = drop("temperature");
  }
  if (top_p !== undefined && (sampling || refuses.includes("top_p"))) top_p = drop("top_p");
  if (parallel_tool_calls !== undefined && refuses.includes("parallel_tool_calls")) {
    parallel_tool_calls = drop("parallel_tool_calls");
  }
  const words: readonly string[] = sampling ? [...refuses, "top_logprobs"] : refuses;
  const kept = keepOptions(request, (name) => !words.includes(toParameter(name)));
  dropped.push(...kept.dropped);
  if (dropped.length === 0) return { request, dropped };
  return {
    request: { ...kept.request, reasoning, temperature, top_p, parallel_tool_calls },
    dropped,
  };
}

function dropReasoning(
  refuses: readonly RefusedParameter[],
  { effort, summary, ...rest }: ReasoningOptions,
  drop: (name: string) => undefined,
): ReasoningOptions {
  if (refuses.includes("reasoning")) {
    if (effort !== undefined || summary !== undefined) drop("reasoning");
    return { effort: undefined, summary: undefined };
  }
  return {
    ...rest,
    effort: effort && refuses.includes(`effort:${effort}`) ? lower(effort, refuses, drop) : effort,
    summary: summary && refuses.includes("summary") ? drop("summary") : summary,
  };
}

const EFFORTS: readonly ModelEffort[] = ["minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * The nearest effort that the model accepts, weaker before stronger, because the vendor's default may be no
 * thinking at all. An unsupported `none` is left out instead: the model then uses its default.
 */
function lower(
  effort: ModelEffort,
  refuses: readonly RefusedParameter[],
  drop: (name: string) => undefined,
): ModelEffort | undefined {
  const at = EFFORTS.indexOf(effort);
  const candidates = at < 0 ? [] : [...EFFORTS.slice(0, at).reverse(), ...EFFORTS.slice(at + 1)];
  const taken = candidates.find((candidate) => !refuses.includes(`effort:${candidate}`));
  drop(taken === undefined ? `effort:${effort}` : `effort:${effort} (sent as ${taken})`);
  return taken;
}

const UNKNOWN: Omit<Model, "vendor" | "name"> = {
  contextTokens: undefined,
  maxOutputTokens: undefined,
  price: undefined,
  reasoning: true,
  vision: true,
  pdf: true,
  tools: true,
  structured: true,
  refuses: [],
};

/** Facts of a model from another vendor: its abilities are the same elsewhere, its price is not. */
function lend(like: string, name: string): Model | undefined {
  const known = bestMatch(MODELS, like, name) ?? borrow(like, name);
  return known && { ...known, price: undefined };
}

/** Vendors that offer the models of one maker under their own names. */
const MAKERS: ReadonlyMap<string, string> = new Map([
  ["azure", "openai"],
  ["claudeaws", "anthropic"],
]);

/** The facts for a vendor that resells models of others: the abilities are known, the price is its own. */
function borrow(vendor: string, name: string): Model | undefined {
  const maker = MAKERS.get(vendor);
  const [owner = "", ...rest] = maker === undefined ? name.split("/") : [maker, name];
  if (maker === undefined && vendor !== "openrouter") return undefined;
  const lender = owner === "x-ai" ? "xai" : owner;
  const model = bestMatch(MODELS, lender, rest.join("/"));
  return model && { ...model, price: undefined };
}

function bestMatch(rows: readonly Model[], vendor: string, name: string): Model | undefined {
  let best: Model | undefined;
  let bestScore = 0;
  for (const row of rows) {
    const score = matchScore(row, vendor, name);
    if (score > bestScore) [best, bestScore] = [row, score];
  }
  return best;
}

const SNAPSHOT = /^-\d{4}-\d{2}-\d{2}$/;

/** 0 for no match; higher for a longer one, and for an exact one over a prefix of the same length. */
function matchScore(
  row: { readonly vendor: string; readonly name: string },
  vendor: string,
  name: string,
): number {
  if (row.vendor !== vendor) return 0;
  if (row.name.endsWith("*")) {
    const prefix = row.name.slice(0, -1);
    return name.startsWith(prefix) ? prefix.length + 0.5 : 0;
  }
  const isMatch =
    row.name === name || (name.startsWith(row.name) && SNAPSHOT.test(name.slice(row.name.length)));
  return isMatch ? row.name.length + 1 : 0;
}
