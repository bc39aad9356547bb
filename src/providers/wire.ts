/**
 * A wire is one vendor API without the network: how a request is written and how the answer reads.
 * It does no input or output, so a recorded response body is a complete test of it.
 *
 * Where to send the request and how to sign it are not the wire's business; they are a row of
 * `catalog.ts`. That split is what lets a dozen vendors share the chat wire.
 */

import type { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { LineReader } from "../base/lines.ts";
import type { ModelEvent } from "../protocol/model-events.ts";
import type { Usage } from "../protocol/usage.ts";
import type { ModelOptions, ModelRequest } from "./provider.ts";
import type { NativeRow } from "./vendors/native-tools.ts";

export interface Wire {
  /** The provider's name in config and on the command line. */
  readonly name: string;
  /** The options it has words for. */
  readonly options?: ReadonlySet<keyof ModelOptions>;
  /** Whether it has a word for what a format of the answer is for. */
  readonly describesFormat?: boolean;
  /**
   * What `encode` leaves out of this request, or changes, besides options that are not listed: values
   * without a word, forms of a choice that cannot be forced. Named as requests spell it.
   */
  omits?(request: ModelRequest, quirks: Quirks): readonly string[];
  /** Whether it honours `ModelRequest.whole`; any other streams all the same. */
  readonly canAnswerWhole?: boolean;
  /** Appended to the vendor's base URL; some APIs name the model there. */
  path(request: ModelRequest): string;
  /** Headers the API asks for, besides those of the vendor's row, which win. */
  headers?(request: ModelRequest, quirks: Quirks): Readonly<Record<string, string>>;
  /** Cuts the body into the payloads that `decoder` reads: `createSseReader` for most. */
  createReader(onData: (data: string) => void): LineReader;
  /** Writes the body. Rejects what this API has no words for with `Failure("invalid_request")`. */
  encode(request: ModelRequest, quirks: Quirks): JsonObject;
  /** A reader for the answer to `request`. */
  decoder(request: ModelRequest, quirks: Quirks): Decoder;
  /**
   * A request to send once more in place of one that was refused before any output, or none.
   * `previous_response_not_found` turns a chain into a replay this way.
   */
  recover?(request: ModelRequest, failure: Failure): ModelRequest | undefined;
}

export interface Decoder {
  /**
   * Give it the payload of every event in order; it pushes what it means onto `out`.
   * A payload that is no JSON is skipped.
   */
  read(data: string, out: ModelEvent[]): void;
  /**
   * Give it the end of the stream. Pushes what only the end decides; rejects with
   * `provider_broke_protocol` when the answer's own ending never came.
   */
  end(out: ModelEvent[]): void;
  /**
   * What the vendor has counted until now, where it says so before the end; 0 of what it has not
   * counted yet.
   */
  readonly usage?: Usage | undefined;
}

/** How a vendor differs from the API it claims to speak. Data of its row, read by `encode`. */
export interface Quirks {
  /** `auto`: chain where the server stores or speaks the legacy words, replay elsewhere. */
  readonly continuation?: "auto" | "chain" | "replay";
  /** Whether the server is asked to keep the answer. */
  readonly store?: boolean;
  /** The name of the limit in a chat body. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Whether the server knows `response_format: json_schema`. */
  readonly jsonSchema?: boolean;
  /** The field in which this vendor wants its own chain of thought back, in the middle of calls. */
  readonly reasoningField?: "reasoning_content" | "reasoning";
  /** Whether it wants `reasoning_details` back as they came. */
  readonly reasoningDetails?: boolean;
  /** Whether it may want the `extra_content` of its calls back. */
  readonly extraContent?: boolean;
  /** Whether the server breaks off where it cannot read its model's call: the model is asked to go on. */
  readonly slips?: boolean;
  /** Whether the server knows the effort `none`; of a chat body it is not taken for granted. */
  readonly effortNone?: boolean;
  /** The fields that say it in place of that, to a server whose models think unless they are told not to. */
  readonly thinkingOff?: JsonObject;
  /** Whether it takes Mistral's own forms of parts. */
  readonly mistralParts?: boolean;
  /** Whether each answer says what it cost, so that a limit in dollars needs no price. */
  readonly tellsCost?: boolean;
  /**
   * The name of the mark on a part that ends what is to be cached; a chat body has none by default. With
   * `cache_control`, Claude's prompts are cached only where the body asks for it.
   */
  readonly cacheMarks?: "cache_control" | "prompt_cache_breakpoint";
  /** How a model of the Messages API is told to think, where its name does not say. */
  readonly thinking?: "adaptive" | "budget" | "none";
  /** Ollama: how long the model stays in memory behind the answer: `10m`, seconds, -1 for ever. */
  readonly keepAlive?: string | number;
  /** Ollama: the context to load the model with; its own default is a few thousand tokens. */
  readonly numCtx?: number;
  /** Whether a Responses body has the instructions as its first message. */
  readonly instructionsAsMessage?: boolean;
  /** The tools that the vendor runs itself, where its API shares a wire with others. */
  readonly native?: NativeRow | undefined;
  /**
   * What this vendor refuses whatever the model: fields of the body, and options as requests spell
   * them (`text.verbosity`). Left out, and options told of.
   */
  readonly refuses?: readonly string[];
}

/** The body without absent fields and without those the vendor refuses. */
export function toBody(fields: JsonObject, { refuses }: Quirks = {}): JsonObject {
  const body: Record<string, Json> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined && !refuses?.includes(name)) body[name] = value;
  }
  return body;
}
