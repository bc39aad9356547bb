/**
 * What is known of a model: sizes, price, abilities, and the parameters it refuses.
 *
 * An unknown model is taken to do everything, refuse nothing and cost an unknown amount: the vendor
 * knows better than an old table. A user's config overrides any field of any row.
 */

import type { Usage } from "../../protocol/usage.ts";
import type { OwnFields } from "../http/own-fields.ts";
import { keepOptions } from "../known-options.ts";
import { type ModelRequest, type Reasoning, toParameter } from "../provider.ts";
import { nativeCostOf } from "../vendors/native-tools.ts";
import { MODELS } from "./model-table.ts";

export interface Model {
  readonly vendor: string;
  /** Exact, which also means its dated snapshots; or a prefix that ends in `*`. */
  readonly name: string;
  readonly contextTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
  /** Undefined is unknown, which is not the same as free. */
  readonly price: Price | undefined;
  readonly reasoning: boolean;
  readonly vision: boolean;
  readonly pdf: boolean;
  readonly tools: boolean;
  /** Whether it can be held to a JSON schema. */
  readonly structured: boolean;
  readonly refuses: readonly Refusal[];
  /** Of the user's rows alone: what each request of it has besides. */
  readonly options?: OwnFields["options"];
  readonly headers?: OwnFields["headers"];
}

/** USD per million tokens. */
export interface Price {
  readonly input: number;
  /** Input read from the vendor's cache; undefined where that is no cheaper. */
  readonly cached: number | undefined;
  /** Input written to the cache; undefined where that costs nothing extra. */
  readonly cacheWrite?: number;
  readonly output: number;
  /** A request with more input than this is priced higher, all of it. */
  readonly long?: {
    readonly aboveTokens: number;
    readonly inputFactor: number;
    readonly outputFactor: number;
  };
}

type Effort = NonNullable<Reasoning["effort"]>;

/**
 * `reasoning` is the whole parameter; `effort:none` one of its values. `sampling_while_reasoning`
 * means that `temperature`, `top_p` and `top_logprobs` are taken with `effort: none` alone.
 */
export type Refusal =
  | "temperature"
  | "top_p"
  | "stop"
  | "frequency_penalty"
  | "presence_penalty"
  | "top_logprobs"
  | "text.verbosity"
  | "sampling_while_reasoning"
  | "reasoning"
  | `effort:${Effort}`
  | "summary"
  | "parallel_tool_calls";

/** A row of a user's config: the name, and whatever is different. */
export type ModelOverride = Pick<Model, "vendor" | "name"> & Partial<Model>;

/**
 * The longest match wins; the overrides that match are laid over it, the longest on top. `like` is the
 * vendor of ours that one of the settings is like.
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

/** The vendors whose rows name this model, in table order; families and catch-alls do not count. */
export function vendorsOfModel(name: string): string[] {
  const rows = MODELS.filter((row) => !row.name.endsWith("*"));
  return [
    ...new Set(rows.filter((row) => matchScore(row, row.vendor, name) > 0).map((r) => r.vendor)),
  ];
}

/** Anthropic's price of input that is kept for an hour, beside that of plain input. */
const HOUR_FACTOR = 2;

/** USD for one answer; undefined when the price is unknown. */
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

/** The request without what the model refuses, and what was left out or changed, for the record. */
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
  refuses: readonly Refusal[],
  { effort, summary, ...rest }: Reasoning,
  drop: (name: string) => undefined,
): Reasoning {
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

const EFFORTS: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * `none` is left out: the model thinks as it likes. Any other effort becomes the nearest one that
 * the model takes, weaker before stronger, because the vendor's default may be not to think at all.
 */
function lower(
  effort: Effort,
  refuses: readonly Refusal[],
  drop: (name: string) => undefined,
): Effort | undefined {
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

/** What a model can do is the same elsewhere; what it costs is not. */
function lend(like: string, name: string): Model | undefined {
  const known = bestMatch(MODELS, like, name) ?? borrow(like, name);
  return known && { ...known, price: undefined };
}

/** Vendors that have the models of one maker under their own names. */
const MAKERS: ReadonlyMap<string, string> = new Map([
  ["azure", "openai"],
  ["claudeaws", "anthropic"],
]);

/** Vendors that resell others' models know what those can do; what they charge is their own. */
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

/** 0 for no match; more for a longer one, and for an exact one over a prefix of the same length. */
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
