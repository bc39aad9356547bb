/**
 * The contract of a model: a request in, batches of model events out.
 *
 * A batch is what one read from the network brought, so a consumer that writes once a batch writes
 * once a read. Rejects with a `Failure`; a stream that ends without its `end` event never ends
 * quietly. Stopping early (`return()`) or aborting the signal closes the connection.
 */

import type { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { Item } from "../protocol/items.ts";
import type { Continuation, ModelEvent } from "../protocol/model-events.ts";
import type { Notice } from "../protocol/run-events.ts";
import type { Tool, ToolChoice } from "../protocol/tools.ts";
import type { Usage } from "../protocol/usage.ts";

export interface Provider {
  /** As in config and on the command line: `openai-chat`, `openai-responses`, `embedded`. */
  readonly name: string;
  stream(request: ModelRequest, call: ModelCall): AsyncGenerator<readonly ModelEvent[], void>;
  /**
   * What `stream` gives, at once, for whoever does not watch it being written: without the cost of a
   * generator. `collectAnswer` does it with a stream where this is left out.
   */
  answer?: ((request: ModelRequest, call: ModelCall) => Promise<WholeAnswer>) | undefined;
  /** Which of these options its API is not told, as requests spell them; none where it is left out. */
  omits?: ((options: ModelOptions) => readonly string[]) | undefined;
}

/** An answer that nobody watched being written. */
export interface WholeAnswer {
  readonly events: readonly ModelEvent[];
  /** Why it broke off behind those events, where it did. */
  readonly failure: Failure | undefined;
}

/**
 * What is asked of a model. Whatever a request of the Responses API has a name for is spelled as it is there, from
 * the request's body to the wire's: `top_p` is `top_p` everywhere.
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
  /** True if `max_output_tokens` is what a budget still pays for, and nobody asked for that length. */
  readonly is_length_of_budget?: boolean | undefined;
  readonly reasoning: Reasoning;
  readonly format: OutputFormat;
  /** Where the last answer of the same provider ended, and how many of `items` it knows. */
  readonly previous: { readonly at: Continuation; readonly covered: number } | undefined;
  /** The deployment that answered the turn before, where the model's name stands for several. */
  readonly deployment?: string | undefined;
  /** Overrides the vendor's way of going on from an earlier answer. */
  readonly continuation?: "auto" | "chain" | "replay" | undefined;
  /** What only some APIs have a word for. */
  readonly options?: ModelOptions | undefined;
  /** Fields of the vendor's own, as its API spells them: laid over the body. */
  readonly own?: JsonObject | undefined;
  /**
   * Fields that clients of compatible servers send (`top_k`), as those spell them. What the API has no
   * place for is left out, and whoever asked is told (`dropped`).
   */
  readonly extras?: JsonObject | undefined;
  /** Asks for the answer in one piece, where the API can and nobody watches it being written. */
  readonly whole?: boolean | undefined;
}

/**
 * Wishes that not every API knows. A wire lists those it can write (`Wire.options`); the others are
 * left out of the request, and whoever asked is told (`dropped`).
 */
export interface ModelOptions {
  readonly stop?: readonly string[] | undefined;
  readonly frequency_penalty?: number | undefined;
  readonly presence_penalty?: number | undefined;
  /** How many likely tokens to tell beside each one; 0 for the chosen ones' probabilities alone. */
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

/** The parameter of a request that an option is: its own name, but for the one that stands inside of `text`. */
export function toParameter(option: keyof ModelOptions): string {
  return option === "verbosity" ? "text.verbosity" : option;
}

/** `effort` undefined leaves the choice to the vendor; `none` asks it not to think. */
export interface Reasoning {
  readonly effort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  readonly summary: "auto" | "concise" | "detailed" | undefined;
  /** Whether the model gives its reasoning in a sealed form that can be sent back. */
  readonly sealed?: boolean | undefined;
}

export type OutputFormat =
  | { readonly type: "text" }
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema";
      readonly name: string;
      /** What the answer is for, told to the model where its API has a word for it. */
      readonly description?: string | undefined;
      readonly schema: JsonObject;
      readonly strict: boolean;
    };

export interface ModelCall {
  readonly signal: AbortSignal;
  /** The run that asks. Calls of one owner that wait for a busy vendor take turns by it. */
  readonly run?: string | undefined;
  /**
   * Whose call it is. Calls that wait for a busy vendor, and large requests that are written, take turns by it; by
   * the run where it is left out.
   */
  readonly owner?: string | undefined;
  /** Told of retries, waits and parameters left out; never of secrets. */
  readonly notice?: ((notice: Omit<Notice, "type">) => void) | undefined;
  /** Whether another deployment can be asked: a call that would have to wait here fails at once. */
  readonly hasOthers?: boolean | undefined;
  /** Awaited for each try, right before the request leaves. Nothing is sent, and nothing tried again, where it rejects. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /**
   * Called for each try, when the request leaves: from then on it may cost something. Told which
   * deployment it goes to, where there are several.
   */
  readonly onSend?: ((deployment?: string) => void) | undefined;
  /**
   * Told what the vendor has counted of an answer that breaks off, where it has counted anything. An
   * answer that ends tells it in its `end`.
   */
  readonly onUsage?: ((usage: Usage) => void) | undefined;
}

export const TEXT_FORMAT: OutputFormat = { type: "text" };
