/**
 * The parameters of a Responses request beyond an agent's task, as they are written down with the run. Secrets in
 * tools (headers of MCP servers) are already sealed.
 */

import type { AskedOfModel } from "../../agent/model-request.ts";
import { asJsonObject, type JsonObject } from "../../base/json.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { ModelOptions, ReasoningOptions } from "../../providers/provider.ts";
import type { ResponseSettings } from "./response-settings.ts";

export interface ResponseWish extends ResponseSettings, AskedOfModel {
  readonly tenant: string;
  /** The key that pays for it; null if the server asks for no key. */
  readonly key_id: string | null;
  /** As the client spells them, with sealed secrets. */
  readonly tools: readonly Tool[];
  readonly reasoning: ReasoningOptions;
  readonly options: ModelOptions;
  /** The response that this one continues. */
  readonly previous_response_id: string | null;
  /** The conversation that this one continues, and its length when the request came. */
  readonly conversation: { readonly id: string; readonly position: number } | null;
  readonly background: boolean;
  readonly store: boolean;
  readonly truncation: "auto" | "disabled";
  readonly compact_threshold: number | null;
  /** True to ask for a summary of the conversation, and no answer. */
  readonly is_compaction: boolean;
  readonly multi_agent: TeamWish | null;
  /** True if the client waits for the whole answer and does not stream it. */
  readonly whole: boolean;
  /** Names of this server's own tools that the client may use. */
  readonly catalogue: readonly string[];
  /**
   * The hosted kinds of tools that it may use, as globs. Null, or left out by older versions, for all.
   */
  readonly kinds?: readonly string[] | null | undefined;
}

/** A team of agents that answers together. */
export interface TeamWish {
  /** How many of them work at once, besides the first. */
  readonly max_concurrent: number;
  /** The name of the run's agent; the first agent when left out. */
  readonly name?: string | undefined;
  /** The request's instructions, which all agents get. */
  readonly instructions?: string | null | undefined;
  /** The last number of the first run's log whose client answers a run begins with. */
  readonly heard?: number | undefined;
}

export function encodeWish(wish: ResponseWish): JsonObject {
  return asJsonObject(wish);
}

/** Only this package writes it, in any version, so it is not checked again. */
export function readWish(written: JsonObject): ResponseWish {
  const wish = written as unknown as ResponseWish;
  return {
    ...wish,
    // Older versions wrote null for parameters that were not given.
    top_p: wish.top_p ?? undefined,
    parallel_tool_calls: wish.parallel_tool_calls ?? undefined,
    extras: wish.extras ?? undefined,
    options: readOptions(wish.options),
  };
}

/** Spellings of options by older versions of the record. */
const OLD_NAMES: ReadonlyMap<string, keyof ModelOptions> = new Map([
  ["frequencyPenalty", "frequency_penalty"],
  ["presencePenalty", "presence_penalty"],
  ["topLogprobs", "top_logprobs"],
  ["serviceTier", "service_tier"],
  ["safetyIdentifier", "safety_identifier"],
  ["promptCacheKey", "prompt_cache_key"],
  ["promptCacheRetention", "prompt_cache_retention"],
  ["promptCacheOptions", "prompt_cache_options"],
]);

function readOptions(options: ModelOptions = {}): ModelOptions {
  const entries = Object.entries(options);
  if (!entries.some(([name]) => OLD_NAMES.has(name))) return options;
  return Object.fromEntries(entries.map(([name, value]) => [OLD_NAMES.get(name) ?? name, value]));
}
