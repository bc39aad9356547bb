/**
 * Cohere's chat API, version 2, both ways. Requests are type aliases, so that the compiler accepts them as
 * JSON objects too: the API refuses an unknown field anywhere. Answers are checked against shapes, in which
 * fields that carry no text of the answer are loose.
 */

import type { JsonObject } from "../../base/json.ts";
import {
  anything,
  either,
  list,
  loose,
  number,
  object,
  type Shape,
  type Shaped,
  text,
} from "../shape.ts";

export type CohereRequest = {
  readonly model: string;
  readonly messages: readonly CohereMessage[];
  readonly stream: boolean;
  readonly tools: readonly CohereTool[] | undefined;
  /** For all tools at once. */
  readonly strict_tools: true | undefined;
  readonly tool_choice: "REQUIRED" | "NONE" | undefined;
  /** The API refuses it in a request with tools. */
  readonly response_format: CohereFormat | undefined;
  readonly thinking: CohereThinking | undefined;
  readonly max_tokens: number | undefined;
  readonly temperature: number | undefined;
  readonly p: number | undefined;
  readonly stop_sequences: readonly string[] | undefined;
  readonly frequency_penalty: number | undefined;
  readonly presence_penalty: number | undefined;
};

export type CohereFormat = { readonly type: "json_object"; readonly json_schema?: JsonObject };

/** On by default for models that support it. Without a budget there is no limit on thinking. */
export type CohereThinking = {
  readonly type: "enabled" | "disabled";
  readonly token_budget?: number;
};

export type CohereMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly CoherePart[] }
  | CohereAnswer
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

export type CohereAnswer = {
  readonly role: "assistant";
  readonly content?: string | readonly CohereBlock[];
  /** The text that the model writes before its calls. */
  readonly tool_plan?: string;
  readonly tool_calls?: readonly CohereCall[];
};

export type CohereText = { readonly type: "text"; readonly text: string };
export type CohereBlock = CohereText | { readonly type: "thinking"; readonly thinking: string };

export type CohereImage = {
  readonly type: "image_url";
  readonly image_url: { readonly url: string; readonly detail?: "low" | "high" | "auto" };
};
export type CoherePart = CohereText | CohereImage;

export type CohereCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

export type CohereTool = {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters: JsonObject;
  };
};

/** A block of content: its start, a piece of it, or the whole block. */
const CONTENT = object({ type: loose(text), text, thinking: text });
export type CohereAnswerContent = Shaped<typeof CONTENT>;

/** Arguments are text. Other servers that offer this API may send the object itself. */
const CALL = object({ id: loose(text), function: object({ name: text, arguments: anything }) });
export type ReadCall = Shaped<typeof CALL>;

/** Fields that the caller defines: of a document in the request, or of a tool's result. */
const FIELDS = object({}) as Shape<unknown> as Shape<JsonObject>;

const CITATION = object({
  /** The position of the cited words in their block of text. */
  start: loose(number),
  end: loose(number),
  text: loose(text),
  /** The kind of block that contains the cited words: `TEXT_CONTENT`, `THINKING_CONTENT` or `PLAN`. */
  type: loose(text),
  content_index: loose(number),
  sources: loose(
    list(object({ id: loose(text), document: loose(FIELDS), tool_output: loose(FIELDS) })),
  ),
});
export type ReadCitation = Shaped<typeof CITATION>;

/** Lists in a whole answer, single values in an event of a stream. */
const MESSAGE = object({
  content: either(either(list(CONTENT), CONTENT), text),
  tool_plan: text,
  tool_calls: either(list(CALL), CALL),
  citations: loose(either(list(CITATION), CITATION)),
});
export type CohereAnswerMessage = Shaped<typeof MESSAGE>;

const COUNTS = object({
  input_tokens: loose(number),
  output_tokens: loose(number),
  reasoning_tokens: loose(number),
});
const USAGE = object({
  /** All tokens, with those that the server itself adds to a prompt. */
  tokens: loose(COUNTS),
  /** The tokens that are paid for, which are fewer. */
  billed_units: loose(COUNTS),
  cached_tokens: loose(number),
});
export type ReadUsage = Shaped<typeof USAGE>;

const ENDING = { finish_reason: loose(text), usage: loose(USAGE), error: loose(text) };

/** An event of a stream or, without a type, a whole answer. */
export const EVENT = object({
  ...ENDING,
  type: text,
  id: loose(text),
  index: loose(number),
  message: MESSAGE,
  delta: object({ ...ENDING, message: MESSAGE }),
});
export type CohereEvent = Shaped<typeof EVENT>;
export type ReadEnding = Pick<CohereEvent, keyof typeof ENDING>;
