/**
 * The contract of a model: a request in, batches of model events out.
 *
 * A batch is the result of one read from the network, so a consumer that writes once for each batch writes
 * once for each read. Rejects with a `Failure`; a stream without its `end` event never ends without a
 * failure. Stopping early (`return()`) or aborting the signal closes the connection.
 */

import type { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { Item } from "../protocol/items.ts";
import type { Continuation, ModelEvent } from "../protocol/model-events.ts";
import type { Notice } from "../protocol/run-events.ts";
import type { Tool, ToolChoice } from "../protocol/tools.ts";
import type { Usage } from "../protocol/usage.ts";

export interface Provider {
  /** The name in the config and on the command line: `openai-chat`, `openai-responses`, `embedded`. */
  readonly name: string;
  stream(request: ModelRequest, call: ModelCall): AsyncGenerator<readonly ModelEvent[], void>;
  /**
   * The events of `stream`, all at once, for callers that do not stream: without the cost of a generator.
   * If missing, `collectAnswer` uses a stream.
   */
  answer?: ((request: ModelRequest, call: ModelCall) => Promise<WholeAnswer>) | undefined;
  /** The options that its API does not support, in the spelling of requests. If missing, there are none. */
  omits?: ((options: ModelOptions) => readonly string[]) | undefined;
}

/** An answer that was not streamed. */
export interface WholeAnswer {
  readonly events: readonly ModelEvent[];
  /** Why the answer broke off after those events; undefined if it did not. */
  readonly failure: Failure | undefined;
}

/**
 * A request to a model. Parameters that exist in the Responses API have the same spelling everywhere, from
 * the request's body to the wire's: `top_p` is `top_p`.
 */
export interface ModelRequest {
  /** The vendor's own name of the model. */
  readonly model: string;
  readonly instructions: string | undefined;
  /** The whole conversation, oldest first. */
  readonly items: readonly Item[];
  readonly tools: readonly Tool[];
  readonly tool_choice: ToolChoice;
  readonly parallel_tool_calls: boolean | undefined;
  readonly temperature: number | undefined;
  readonly top_p: number | undefined;
  readonly max_output_tokens: number | undefined;
  /** True if `max_output_tokens` is what a budget still pays for, and the client did not set it. */
  readonly is_length_of_budget?: boolean | undefined;
  readonly reasoning: ReasoningOptions;
  readonly format: OutputFormat;
  /** The end of the last answer of the same provider, and how many of `items` it covers. */
  readonly previous: { readonly at: Continuation; readonly covered: number } | undefined;
  /** The deployment that answered the turn before, if the model's name has several. */
  readonly deployment?: string | undefined;
  /** Overrides how the vendor continues from an earlier answer. */
  readonly continuation?: "auto" | "chain" | "replay" | undefined;
  /** Options that only some APIs support. */
  readonly options?: ModelOptions | undefined;
  /** Fields of the vendor's own, in the spelling of its API. Merged into the body. */
  readonly own?: JsonObject | undefined;
  /**
   * Fields from clients of compatible servers (`top_k`), in their spelling. Unsupported ones are left out,
   * and `dropped` names them for the caller.
   */
  readonly extras?: JsonObject | undefined;
  /** Asks for the answer in one piece, if the API can and the client does not stream. */
  readonly whole?: boolean | undefined;
}

/**
 * Options that not every API supports. A wire lists those that it can write (`Wire.options`); the others
 * are left out of the request, and `dropped` names them for the caller.
 */
export interface ModelOptions {
  readonly stop?: readonly string[] | undefined;
  readonly frequency_penalty?: number | undefined;
  readonly presence_penalty?: number | undefined;
  /** How many likely tokens to report for each one; 0 for only the chosen ones' probabilities. */
  readonly top_logprobs?: number | undefined;
  readonly verbosity?: "low" | "medium" | "high" | undefined;
  readonly service_tier?: string | undefined;
  readonly user?: string | undefined;
  readonly safety_identifier?: string | undefined;
  readonly prompt_cache_key?: string | undefined;
  readonly prompt_cache_retention?: string | undefined;
  readonly prompt_cache_options?: JsonObject | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly moderation?: JsonObject | undefined;
}

/** The parameter of an option: its own name, except for the one inside `text`. */
export function toParameter(option: keyof ModelOptions): string {
  return option === "verbosity" ? "text.verbosity" : option;
}

/** With `effort` undefined the vendor chooses; with `none` the model should not think. */
export interface ReasoningOptions {
  readonly effort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  readonly summary: "auto" | "concise" | "detailed" | undefined;
  /** `omitted`: the model need not send the text of its thoughts. A field of Anthropic's API. */
  readonly display?: "omitted" | undefined;
  /** True if the model returns its reasoning in a sealed form that can be sent back. */
  readonly sealed?: boolean | undefined;
}

export type OutputFormat =
  | { readonly type: "text" }
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema";
      readonly name: string;
      /** The purpose of the answer. Sent to the model if its API has a field for it. */
      readonly description?: string | undefined;
      readonly schema: JsonObject;
      readonly strict: boolean;
    };

export interface ModelCall {
  readonly signal: AbortSignal;
  /** The run that makes the call. Calls of one owner that wait for a busy vendor take turns by run. */
  readonly run?: string | undefined;
  /**
   * The tenant of the call. Calls that wait for a busy vendor, and large requests that are written, take
   * turns by owner; if missing, by run.
   */
  readonly owner?: string | undefined;
  /** Called for retries, waits and left-out parameters. Never gets secrets. */
  readonly notice?: ((notice: Omit<Notice, "type">) => void) | undefined;
  /** True if another deployment can be asked: a call that would have to wait here fails at once. */
  readonly hasOthers?: boolean | undefined;
  /**
   * Awaited for each attempt, directly before the request is sent. If it rejects, nothing is sent and the
   * call is not retried.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /**
   * Called for each attempt when the request is sent: from then on it may cost something. Gets the
   * deployment, if there are several.
   */
  readonly onSend?: ((deployment?: string) => void) | undefined;
  /**
   * Called with the vendor's counts for an answer that breaks off, if there are any. A complete answer has
   * them in its `end`.
   */
  readonly onUsage?: ((usage: Usage) => void) | undefined;
}

export const TEXT_FORMAT: OutputFormat = { type: "text" };
