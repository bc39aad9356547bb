/**
 * Anthropic's Messages API: the part that we send and the part that servers answer.
 *
 * Requests are typed like the API, so that the compiler can check them against the vendor's own types.
 * Answers are checked against shapes; fields that carry no text of the answer are loose.
 */

import type { JsonObject } from "../../base/json.ts";
import type { Cached, MessagesTurn, TextBlock } from "../../protocol/messages-blocks.ts";
import { anything, list, loose, number, object, type Shape, type Shaped, text } from "../shape.ts";

/** A request's body. Only models before Claude 4.7 accept `temperature` and `top_p`. */
export interface MessagesBody {
  model: string;
  max_tokens: number;
  stream: true;
  system?: TextBlock[] | undefined;
  messages: MessagesTurn[];
  tools?: MessagesTool[] | undefined;
  tool_choice?: MessagesToolChoice | undefined;
  thinking?: MessagesThinking | undefined;
  output_config?: MessagesOutputConfig | undefined;
  temperature?: number | undefined;
  top_p?: number | undefined;
  container?: string | undefined;
  stop_sequences?: string[] | undefined;
  service_tier?: "auto" | "standard_only" | undefined;
  metadata?: { user_id: string } | undefined;
}

export interface MessagesTool extends Cached {
  name: string;
  description?: string;
  /** True if the model can only write what the schema allows. */
  strict?: boolean;
  input_schema: { type: "object"; [keyword: string]: unknown };
}

export type MessagesToolChoice =
  | { type: "auto"; disable_parallel_tool_use?: boolean }
  | { type: "any"; disable_parallel_tool_use?: boolean }
  | { type: "tool"; name: string; disable_parallel_tool_use?: boolean }
  | { type: "none" };

export type MessagesThinking =
  | { type: "adaptive"; display?: "summarized" | "omitted" }
  | { type: "enabled"; budget_tokens: number }
  | { type: "disabled" }
  | { type: "between_tools" };

export type MessagesEffort = "low" | "medium" | "high" | "xhigh" | "max";

export interface MessagesOutputConfig {
  effort?: MessagesEffort;
  format?: { type: "json_schema"; schema: { [keyword: string]: unknown } };
}

/** A content block, its start or all of it. Its fields are checked against the shape of its kind. */
const BLOCK = object({ type: text }) as Shape<unknown> as Shape<ReadBlock>;
/** All fields of an unknown kind are kept. */
export type ReadBlock = JsonObject & { readonly type?: string | null };

/** A citation in the vendor's own form: passed on, and sent back. */
const CITATION = object({}) as Shape<unknown> as Shape<JsonObject>;

export const READ_TEXT = object({ text, citations: loose(list(CITATION)) });

export const READ_THOUGHT = object({
  thinking: text,
  signature: text,
  /** Redacted thinking. */
  data: text,
});

export const READ_CALL = object({ id: loose(text), name: text, input: anything });

/** Counts of the answer so far. A later event replaces the counts that it names. */
const COUNTS = {
  /** Without the tokens that were read from the cache or written to it. */
  input_tokens: loose(number),
  cache_read_input_tokens: loose(number),
  cache_creation_input_tokens: loose(number),
  cache_creation: loose(object({ ephemeral_1h_input_tokens: loose(number) })),
  output_tokens: loose(number),
  output_tokens_details: loose(object({ thinking_tokens: loose(number) })),
};

const USAGE = object({
  ...COUNTS,
  /** Calls of its own tools, as `web_search_requests`. */
  server_tool_use: loose(object({}) as Shape<unknown> as Shape<JsonObject>),
  /** The steps of an answer. Those of type `compaction` are counted only here. */
  iterations: loose(list(object({ ...COUNTS, type: loose(text) }))),
});
export type MessagesUsage = Shaped<typeof USAGE>;

const ENDING = {
  stop_reason: loose(text),
  stop_sequence: loose(text),
  stop_details: loose(object({ explanation: loose(text) })),
  /** Kept unchanged. */
  container: loose(object({}) as Shape<unknown> as Shape<JsonObject>),
};

const ANSWER = {
  ...ENDING,
  id: loose(text),
  model: loose(text),
  content: list(BLOCK),
  usage: loose(USAGE),
};
const WHOLE = object(ANSWER);
export type AnswerFields = Shaped<typeof WHOLE>;

/** A delta of a block, or of the answer itself, which then says how it ended. */
const DELTA_FIELDS = object({
  ...ENDING,
  type: text,
  text,
  thinking: text,
  signature: text,
  partial_json: text,
  citation: loose(CITATION),
});
const DELTA = DELTA_FIELDS as Shape<unknown> as Shape<MessagesBlockDelta>;
export type MessagesBlockDelta = JsonObject & Shaped<typeof DELTA_FIELDS>;

/** One event of a stream, or a whole answer, whose `type` is `message`. */
export const EVENT = object({
  ...ANSWER,
  type: text,
  message: WHOLE,
  index: number,
  content_block: BLOCK,
  delta: DELTA,
});
export type MessagesEvent = Shaped<typeof EVENT>;

/** The shape of the most common event in a stream, with only the fields that it can have. */
export const DELTA_EVENT: Shape<MessagesEvent> = object({ index: number, delta: DELTA });
