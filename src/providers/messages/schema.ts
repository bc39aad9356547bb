/**
 * The Messages API of Anthropic, as far as we write it and as servers write it back.
 *
 * What we send is typed as the API has it, so that the compiler can hold it against the vendor's own
 * types. What we read is held against shapes: fields whose loss costs no words are loose.
 */

import type { JsonObject } from "../../base/json.ts";
import type { Cached, MessagesTurn, TextBlock } from "../../protocol/messages-blocks.ts";
import { anything, list, loose, number, object, type Shape, type Shaped, text } from "../shape.ts";

/** A request's body. `temperature` and `top_p` are known to models before Claude 4.7 alone. */
export interface MessagesBody {
  model: string;
  max_tokens: number;
  stream: true;
  system?: TextBlock[] | undefined;
  messages: MessagesTurn[];
  tools?: MessagesTool[] | undefined;
  tool_choice?: MessagesToolChoice | undefined;
  thinking?: Thinking | undefined;
  output_config?: OutputConfig | undefined;
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
  /** Whether the model cannot but write what the schema allows. */
  strict?: boolean;
  input_schema: { type: "object"; [keyword: string]: unknown };
}

export type MessagesToolChoice =
  | { type: "auto"; disable_parallel_tool_use?: boolean }
  | { type: "any"; disable_parallel_tool_use?: boolean }
  | { type: "tool"; name: string; disable_parallel_tool_use?: boolean }
  | { type: "none" };

export type Thinking =
  | { type: "adaptive"; display?: "summarized" }
  | { type: "enabled"; budget_tokens: number }
  | { type: "disabled" }
  | { type: "between_tools" };

export type Effort = "low" | "medium" | "high" | "xhigh" | "max";

export interface OutputConfig {
  effort?: Effort;
  format?: { type: "json_schema"; schema: { [keyword: string]: unknown } };
}

/** A content block as it starts, or whole: what is of its kind is held against that kind's shape. */
const BLOCK = object({ type: text }) as Shape<unknown> as Shape<ReadBlock>;
/** All of a kind we do not know is kept. */
export type ReadBlock = JsonObject & { readonly type?: string | null };

/** The vendor's own words for what a text is of: handed on, and wanted back. */
const CITATION = object({}) as Shape<unknown> as Shape<JsonObject>;

export const READ_TEXT = object({ text, citations: loose(list(CITATION)) });

export const READ_THOUGHT = object({
  thinking: text,
  signature: text,
  /** Of thinking that is not shown. */
  data: text,
});

export const READ_CALL = object({ id: loose(text), name: text, input: anything });

/** Counts are of the answer so far; a later event replaces what it names. */
const COUNTS = {
  /** Without those read from the cache or written to it. */
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
  /** The steps of an answer; those of type `compaction` are counted here and nowhere else. */
  iterations: loose(list(object({ ...COUNTS, type: loose(text) }))),
});
export type MessagesUsage = Shaped<typeof USAGE>;

const ENDING = {
  stop_reason: loose(text),
  stop_sequence: loose(text),
  stop_details: loose(object({ explanation: loose(text) })),
  /** Kept as it came. */
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

/** Of a block, or of the answer itself, which then says how it ended. */
const DELTA_FIELDS = object({
  ...ENDING,
  type: text,
  text,
  thinking: text,
  signature: text,
  partial_json: text,
  citation: loose(CITATION),
});
const DELTA = DELTA_FIELDS as Shape<unknown> as Shape<BlockDelta>;
export type BlockDelta = JsonObject & Shaped<typeof DELTA_FIELDS>;

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

/** The event that nearly all of a stream is, held against no more than it can have. */
export const DELTA_EVENT: Shape<MessagesEvent> = object({ index: number, delta: DELTA });
