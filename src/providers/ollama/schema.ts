/**
 * Ollama's own chat API, both ways. Requests are typed like its client
 * (`test/providers/ollama/sdk-types.test.ts`); answers are checked against shapes, in which fields that
 * carry no text of the answer are loose. Requests are type aliases, so that the compiler accepts them as
 * JSON objects too.
 */

import type { JsonObject } from "../../base/json.ts";
import { anything, flag, list, loose, number, object, type Shaped, text } from "../shape.ts";

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
  /** False: a conversation that is too long is refused, and not silently cut. */
  readonly truncate: false;
  /** False: an answer that fills the context ends there, and earlier messages are not dropped for it. */
  readonly shift: false;
};

export type OllamaOptions = {
  /** The most tokens of the answer. */
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

/** The user's JSON schema, with the keywords that the API names. */
export type OllamaParameters = {
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
};

const TOKEN = { token: text, logprob: loose(number), bytes: loose(list(number)) };
const TOP = object(TOKEN);
export type OllamaToken = Shaped<typeof TOP>;

const LOGPROB = object({ ...TOKEN, top_logprobs: loose(list(TOP)) });
export type OllamaLogprob = Shaped<typeof LOGPROB>;

/** A call, which comes whole. Only newer servers number it. */
const CALL = object({
  id: loose(text),
  /** An object; some proxies make a text of it. */
  function: object({ name: text, arguments: anything }),
});
export type OllamaChunkCall = Shaped<typeof CALL>;

/** One line of a streamed answer, or the whole of an answer that was not streamed. */
export const CHUNK = object({
  model: loose(text),
  message: object({ content: text, thinking: text, tool_calls: list(CALL) }),
  logprobs: loose(list(LOGPROB)),
  done: loose(flag),
  done_reason: loose(text),
  prompt_eval_count: loose(number),
  eval_count: loose(number),
});
export type OllamaChunk = Shaped<typeof CHUNK>;
