/**
 * A wire is one vendor API without the network: how a request is written and how the answer is read. It
 * does no input or output, so a recorded response body is a complete test of it.
 *
 * A wire does not know where to send the request or how to sign it; that is a row of `catalog.ts`. This
 * lets a dozen vendors share the chat wire.
 */

import type { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { LineReader } from "../base/lines.ts";
import type { ModelEvent } from "../protocol/model-events.ts";
import type { Usage } from "../protocol/usage.ts";
import type { ModelOptions, ModelRequest } from "./provider.ts";

/** How much of something an API takes, if its documentation says so. More is refused before it is sent. */
export interface RequestLimits {
  /** The number of texts at which the model stops. */
  readonly stops?: number;
  /** The characters in the name of a function. */
  readonly toolNameChars?: number;
}

export interface Wire {
  /** The provider's name in config and on the command line. */
  readonly name: string;
  /** The options that it can write. */
  readonly options?: ReadonlySet<keyof ModelOptions>;
  /** The limits of all vendors with this API. */
  readonly limits?: RequestLimits;
  /** True if the API takes a description of the answer's format. */
  readonly describesFormat?: boolean;
  /**
   * Parameters that `encode` leaves out of this request or changes, besides options that are not listed:
   * unsupported values, and tool choices that cannot be forced. In the spelling of requests.
   */
  omits?(request: ModelRequest, quirks: Quirks): readonly string[];
  /** True if it supports `ModelRequest.whole`; other wires always stream. */
  readonly canAnswerWhole?: boolean;
  /** Appended to the vendor's base URL. Some APIs have the model in it. */
  path(request: ModelRequest): string;
  /** Headers that the API requires. Those of the vendor's row win. */
  headers?(request: ModelRequest, quirks: Quirks): Readonly<Record<string, string>>;
  /** Splits the body into the payloads that `decoder` reads: `createSseReader` for most. */
  createReader(onData: (data: string) => void): LineReader;
  /** Writes the body. Throws `Failure("invalid_request")` for what this API cannot express. */
  encode(request: ModelRequest, quirks: Quirks): JsonObject;
  /** Creates a reader for the answer to `request`. */
  decoder(request: ModelRequest, quirks: Quirks): Decoder;
  /**
   * The request to send again in place of one that was refused before any output; undefined if there is
   * none. This is how `previous_response_not_found` turns a chain into a replay.
   */
  recover?(request: ModelRequest, failure: Failure): ModelRequest | undefined;
}

export interface Decoder {
  /**
   * Call it with the payload of every event in order; it pushes model events onto `out`. Skips a payload
   * that is not JSON.
   */
  read(data: string, out: ModelEvent[]): void;
  /**
   * Call it at the end of the stream. Pushes the events that only the end decides; throws
   * `provider_broke_protocol` if the answer's own end never came.
   */
  end(out: ModelEvent[]): void;
  /** The vendor's counts so far, if it sends them before the end; 0 for what it has not counted yet. */
  readonly usage?: Usage | undefined;
}

/** Differences of a vendor from the API that it offers. Data of its row, read by `encode`. */
export interface Quirks {
  /** `auto`: chain if the server stores answers or has the older vocabulary, otherwise replay. */
  readonly continuation?: "auto" | "chain" | "replay";
  /** True if the server is asked to store the answer. */
  readonly store?: boolean;
  /** The name of the limit in a chat body. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** True if the server supports `response_format: json_schema`. */
  readonly jsonSchema?: boolean;
  /** The field in which this vendor wants its own reasoning back, between calls. */
  readonly reasoningField?: "reasoning_content" | "reasoning";
  /** True if it wants `reasoning_details` back unchanged. */
  readonly reasoningDetails?: boolean;
  /** True if it may want the `extra_content` of its calls back. */
  readonly extraContent?: boolean;
  /**
   * True if the server breaks off when it cannot parse its model's call. The model is then asked to
   * continue.
   */
  readonly slips?: boolean;
  /** True if the server supports the effort `none`, which not every chat server does. */
  readonly effortNone?: boolean;
  /** The fields to send instead of it, for servers whose models otherwise think. */
  readonly thinkingOff?: JsonObject;
  /** True if it accepts Mistral's own forms of parts. */
  readonly mistralParts?: boolean;
  /** True if each answer has its cost, so that a limit in dollars needs no price. */
  readonly tellsCost?: boolean;
  /**
   * The name of the mark on a part that ends a cached prefix; a chat body has none by default. With
   * `cache_control`, Claude's prompts are cached only if the body asks for it.
   */
  readonly cacheMarks?: "cache_control" | "prompt_cache_breakpoint";
  /** How a request of the Messages API turns on reasoning, if the model's name does not decide it. */
  readonly thinking?: "adaptive" | "budget" | "none";
  /** Ollama: how long the model stays in memory after the answer: `10m`, seconds, -1 for ever. */
  readonly keepAlive?: string | number;
  /** Ollama: the context to load the model with; its own default is a few thousand tokens. */
  readonly numCtx?: number;
  /** True if a Responses body has the instructions as its first message. */
  readonly instructionsAsMessage?: boolean;
  /** The tools that the vendor runs itself, if its API shares a wire with others. */
  readonly native?: NativeRow | undefined;
  /** Its limits, if those of others with this API differ. */
  readonly limits?: RequestLimits;
  /**
   * Parameters that this vendor refuses for every model: fields of the body, and options in the spelling of
   * requests (`text.verbosity`). They are left out, and left-out options are reported to the caller.
   */
  readonly refuses?: readonly string[];
}

/** Kinds of the Responses API that this package runs itself if the vendor does not. */
export type RunKind = "web_search" | "code_interpreter";

export interface NativeRun {
  /** The type of the vendor's own tool for this kind. */
  readonly as: string;
  /**
   * Fields of the request's entry that the vendor's tool has. An entry with any other field is not passed
   * to the vendor.
   */
  readonly takes: readonly string[];
  /** Fields that are only advice: left out, and reported. */
  readonly hints?: readonly string[];
  /** The models that have it; if missing, all of the vendor's. */
  readonly models?: RegExp;
  /** The models that run it beside functions; if missing, all of them. */
  readonly mixing?: RegExp;
  /** Values of `include` that the vendor's answer can fill. */
  readonly shows: readonly string[];
}

/** The price of calls, if it is published. The first matching row is used. */
export interface NativePrice {
  /** The name of the tool in `Usage.native_calls`. */
  readonly tool: string;
  readonly models?: RegExp;
  readonly usdPerThousand: number;
}

export interface NativeRow {
  /** The API of the vendor that has them. */
  readonly wire: WireName;
  /** Types of tools that are passed to it unchanged. A `*` at the end stands for the rest of a name. */
  readonly types: readonly string[];
  /** The types among them whose calls the client of the model makes. */
  readonly clients: readonly string[];
  /** Types of items that only this vendor reads, in the same form. They are sent back unchanged. */
  readonly items: readonly string[];
  /** The field of an item of a published kind with the data that the vendor wants back. */
  readonly mark?: string;
  readonly runs: Readonly<Partial<Record<RunKind, NativeRun>>>;
  readonly prices: readonly NativePrice[];
  /** Types of tools without a published price, or that are billed by the hour. In the form of `types`. */
  readonly unpriced: readonly string[];
  /**
   * Types of tools that read data that the account stores with the vendor, whichever client asks. In the
   * form of `types`.
   */
  readonly stores?: readonly string[];
}

/** The names of all wires; `wires.ts` says how each is loaded. */
export type WireName =
  | "openai-chat"
  | "openai-responses"
  | "anthropic"
  | "vertexai-anthropic"
  | "gemini"
  | "vertexai-gemini"
  | "bedrock"
  | "cohere"
  | "ollama"
  | "llamacpp";

/** The body without absent fields and without those that the vendor refuses. */
export function toBody(fields: JsonObject, { refuses }: Quirks = {}): JsonObject {
  const body: Record<string, Json> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined && !refuses?.includes(name)) body[name] = value;
  }
  return body;
}
