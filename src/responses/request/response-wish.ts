/**
 * What a request of the Responses API asks beyond an agent's task, as it is written down with the run.
 * Secrets in tools (headers of MCP servers) are sealed before they get here.
 */

import type { AskedOfModel } from "../../agent/model-request.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { ModelOptions, Reasoning } from "../../providers/provider.ts";
import type { ResponseSettings } from "./response-settings.ts";

export interface ResponseWish extends ResponseSettings, AskedOfModel {
  readonly tenant: string;
  /** The key that is charged for it; null where none was asked for. */
  readonly key_id: string | null;
  /** As the client spells them, sealed. */
  readonly tools: readonly Tool[];
  readonly reasoning: Reasoning;
  readonly options: ModelOptions;
  /** The response whose conversation this one goes on with. */
  readonly previous_response_id: string | null;
  /** The conversation this one goes on with, and how far it had come when it was asked for. */
  readonly conversation: { readonly id: string; readonly position: number } | null;
  readonly background: boolean;
  readonly store: boolean;
  readonly truncation: "auto" | "disabled";
  readonly compact_threshold: number | null;
  /** Asks for the conversation in short, and for no answer. */
  readonly is_compaction: boolean;
  readonly multi_agent: TeamWish | null;
  /** Whether nobody watches the answer being written. */
  readonly whole: boolean;
  /** What this server's own tools a client may use at most. */
  readonly catalogue: readonly string[];
  /** The hosted kinds of tools that it may use, as globs; null, or left out by older ones, for all. */
  readonly kinds?: readonly string[] | null | undefined;
}

/** A team of agents that answers together. */
export interface TeamWish {
  /** How many of them work at once, but for the first. */
  readonly max_concurrent: number;
  /** Which of them a run is; the first where it is left out. */
  readonly name?: string | undefined;
  /** The request's instructions, which hold for all of them. */
  readonly instructions?: string | null | undefined;
  /** The last number of the first's log whose answers of the client a run begins with. */
  readonly heard?: number | undefined;
}

export function encodeWish(wish: ResponseWish): JsonObject {
  return wish as unknown as JsonObject;
}

/** What this package wrote is taken at its word, whichever version of it wrote. */
export function readWish(written: JsonObject): ResponseWish {
  const wish = written as unknown as ResponseWish;
  return {
    ...wish,
    // An older version wrote null for what was not asked.
    top_p: wish.top_p ?? undefined,
    parallel_tool_calls: wish.parallel_tool_calls ?? undefined,
    extras: wish.extras ?? undefined,
    options: readOptions(wish.options),
  };
}

/** How an older version spelled options in the record. */
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
