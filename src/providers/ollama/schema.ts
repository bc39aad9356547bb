/**
 * Ollama's own chat API, both ways. Requests are typed as its client types them
 * (`test/providers/ollama/sdk-types.test.ts`); answers have every field optional, because versions
 * differ, and are read without validation. Requests are type aliases, so that they are JSON objects
 * to the compiler too.
 */

import type { Json, JsonObject } from "../../base/json.ts";

export type OllamaRequest = {
  readonly model: string;
  readonly messages: readonly OllamaMessage[];
  readonly stream: true;
  readonly tools: readonly OllamaTool[] | undefined;
  /** `json`, or the schema itself. */
  readonly format: "json" | JsonObject | undefined;
  readonly think: boolean | "low" | "medium" | "high" | undefined;
  readonly keep_alive: string | number | undefined;
  readonly options: OllamaOptions | undefined;
  readonly logprobs: true | undefined;
  readonly top_logprobs: number | undefined;
  /** False: a conversation that is too long is refused, not cut without a word. */
  readonly truncate: false;
  /** False: an answer that fills the context ends there, and the past is not thrown away for it. */
  readonly shift: false;
};

export type OllamaOptions = {
  /** At most so many tokens of answer. */
  readonly num_predict?: number;
  readonly num_ctx?: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly stop?: readonly string[];
  readonly frequency_penalty?: number;
  readonly presence_penalty?: number;
};

export type OllamaMessage = {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly thinking?: string;
  /** Base64, without the head of a `data:` URL. */
  readonly images?: readonly string[];
  readonly tool_calls?: readonly OllamaCall[];
  readonly tool_name?: string;
  readonly tool_call_id?: string;
};

export type OllamaCall = {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: JsonObject };
};

export type OllamaTool = {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters: OllamaParameters;
  };
};

/** The user's JSON schema, as far as the API names its parts. */
export type OllamaParameters = {
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
};

/** One line of a streamed answer, or the whole of one that was not streamed. */
export interface OllamaChunk {
  readonly model?: string | null;
  readonly message?: {
    readonly content?: string | null;
    readonly thinking?: string | null;
    readonly tool_calls?: readonly OllamaChunkCall[] | null;
  } | null;
  readonly logprobs?: readonly OllamaLogprob[] | null;
  readonly done?: boolean | null;
  readonly done_reason?: string | null;
  readonly prompt_eval_count?: number | null;
  readonly eval_count?: number | null;
  /** In place of everything else when the server fails in the middle. */
  readonly error?: Json;
}

/** A call comes whole; only newer servers number it. */
export interface OllamaChunkCall {
  readonly id?: string | null;
  readonly function?: {
    readonly name?: string | null;
    readonly arguments?: JsonObject | string | null;
  } | null;
}

export interface OllamaToken {
  readonly token?: string | null;
  readonly logprob?: number | null;
  readonly bytes?: readonly number[] | null;
}

export interface OllamaLogprob extends OllamaToken {
  readonly top_logprobs?: readonly OllamaToken[] | null;
}
