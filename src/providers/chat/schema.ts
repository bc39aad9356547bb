/**
 * The chat completions API as servers really write it: every field optional, because each of them
 * is missing somewhere. Read without validation; the decoder asks for what it uses.
 */

import type { JsonObject } from "../../base/json.ts";
import type { Logprob } from "../../protocol/content.ts";

export interface ChatChunk {
  readonly id?: string | null;
  readonly model?: string | null;
  readonly choices?: readonly ChatChoice[] | null;
  readonly usage?: ChatUsage | null;
  /** Groq repeats the usage here, and once gave it nowhere else. */
  readonly x_groq?: { readonly usage?: ChatUsage | null } | null;
  readonly error?: JsonObject | string | null;
  /** `error`, where a server puts the error itself in place of a chunk. */
  readonly type?: string | null;
}

export interface ChatChoice {
  readonly delta?: ChatDelta | null;
  /** In place of `delta` when the server did not stream. */
  readonly message?: ChatDelta | null;
  readonly finish_reason?: string | null;
  /** In the shape that the Responses API has taken over. */
  readonly logprobs?: { readonly content?: readonly Logprob[] | null } | null;
}

export interface ChatDelta {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly tool_calls?: readonly ChatToolCall[] | null;
  readonly annotations?: readonly ChatAnnotation[] | null;
}

export interface ChatToolCall {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null;
}

export interface ChatAnnotation {
  readonly type?: string;
  readonly url_citation?: {
    readonly url?: string;
    readonly title?: string;
    readonly start_index?: number;
    readonly end_index?: number;
  };
}

export interface ChatUsage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  /** DeepSeek's name of the cached tokens, and Moonshot's. */
  readonly prompt_cache_hit_tokens?: number | null;
  readonly cached_tokens?: number | null;
  /** Some servers count reasoning at the top. */
  readonly reasoning_tokens?: number | null;
}
