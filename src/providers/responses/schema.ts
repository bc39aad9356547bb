/**
 * The stream of the Responses API as servers really write it, in both vocabularies: the published
 * one (`function_call`) and the older one (`tool_call`). Read without validation: fields the
 * decoder does not use pass through it untouched.
 */

import type { Json, JsonObject } from "../../base/json.ts";
import type { Logprob } from "../../protocol/content.ts";

export interface WireEvent {
  readonly type?: string;
  readonly response?: WireResponse;
  readonly item?: WireItem;
  readonly output_index?: number;
  readonly content_index?: number;
  readonly summary_index?: number;
  readonly item_id?: string;
  readonly tool_call_id?: string;
  readonly call_id?: string;
  readonly delta?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly annotation?: JsonObject;
  /** Empty unless they were asked for. */
  readonly logprobs?: readonly Logprob[] | null;
}

export interface WireResponse {
  readonly id?: string;
  readonly model?: string;
  readonly status?: string;
  readonly store?: boolean | null;
  readonly output?: readonly WireItem[];
  readonly usage?: WireUsage | null;
  readonly error?: Json;
  readonly incomplete_details?: { readonly reason?: string } | null;
}

export interface WireItem {
  readonly type?: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: Json;
  readonly input?: string;
  readonly summary?: readonly WirePart[] | null;
  readonly content?: readonly WirePart[] | null;
}

export interface WirePart {
  readonly type?: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly annotations?: readonly JsonObject[] | null;
  readonly logprobs?: readonly Logprob[] | null;
}

export interface WireUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly input_tokens_details?: {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
  } | null;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number } | null;
}
