/**
 * The Messages API of Anthropic, as far as we write it and as servers write it back.
 *
 * What we send is typed as the API has it, so that the compiler can hold it against the vendor's own
 * types. What we read is all optional and read without validation: the decoder asks for what it uses.
 */

import type { JsonObject } from "../../base/json.ts";

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

export interface MessagesTurn {
  role: "user" | "assistant";
  content: MessagesBlock[];
}

/** Blocks we write ourselves; those a server gave us go back word for word, under a cast. */
export type MessagesBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ThinkingBlock
  | RedactedBlock
  | ToolUseBlock
  | ToolResultBlock;

/** Marks the end of a prefix that the server keeps for five minutes. */
export interface Cached {
  cache_control?: { type: "ephemeral" };
}

export interface TextBlock extends Cached {
  type: "text";
  text: string;
  citations?: Citation[];
}

export interface ImageBlock extends Cached {
  type: "image";
  source:
    | { type: "base64"; media_type: ImageType; data: string }
    | { type: "url"; url: string }
    | { type: "file"; file_id: string };
}

export type ImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

export interface DocumentBlock extends Cached {
  type: "document";
  source:
    | { type: "base64"; media_type: "application/pdf"; data: string }
    | { type: "text"; media_type: "text/plain"; data: string }
    | { type: "url"; url: string }
    | { type: "file"; file_id: string };
  title?: string;
}

interface ThinkingBlock {
  type: "thinking";
  thinking: string;
  signature: string;
}

interface RedactedBlock {
  type: "redacted_thinking";
  data: string;
}

export interface ToolUseBlock extends Cached {
  type: "tool_use";
  id: string;
  name: string;
  input: JsonObject;
}

export interface ToolResultBlock extends Cached {
  type: "tool_result";
  tool_use_id: string;
  content?: string | (TextBlock | ImageBlock | DocumentBlock)[];
  is_error?: boolean;
}

/** As the server takes a citation back: what it gave, but for `file_id`. */
export type Citation =
  | {
      type: "web_search_result_location";
      cited_text: string;
      encrypted_index: string;
      title: string | null;
      url: string;
    }
  | {
      type: "page_location";
      cited_text: string;
      document_index: number;
      document_title: string | null;
      start_page_number: number;
      end_page_number: number;
    };

export interface MessagesTool extends Cached {
  name: string;
  description?: string;
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

/** One event of a stream, or a whole answer, whose `type` is `message`. */
export interface MessagesEvent extends AnswerFields {
  readonly type?: string | null;
  readonly message?: AnswerFields | null;
  readonly index?: number | null;
  readonly content_block?: ReadBlock | null;
  readonly delta?: BlockDelta | null;
  readonly error?: JsonObject | string | null;
}

export interface AnswerFields {
  readonly id?: string | null;
  readonly model?: string | null;
  readonly content?: readonly ReadBlock[] | null;
  readonly usage?: MessagesUsage | null;
  readonly stop_reason?: string | null;
  readonly stop_details?: { readonly explanation?: string | null } | null;
  readonly container?: JsonObject | null;
}

/** A content block as it starts, or whole. All of a kind we do not know is kept. */
export type ReadBlock = JsonObject & { readonly type?: string };

/** Of a block, or of the answer itself, which then says how it ended. */
export type BlockDelta = JsonObject & {
  readonly type?: string;
  readonly text?: string | null;
  readonly thinking?: string | null;
  readonly signature?: string | null;
  readonly partial_json?: string | null;
  readonly citation?: JsonObject | null;
};

/** Counts are of the answer so far; a later event replaces what it names. */
export interface MessagesUsage {
  /** Without those read from the cache or written to it. */
  readonly input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null;
  /** The steps of an answer; those of type `compaction` are counted here and nowhere else. */
  readonly iterations?: readonly (MessagesUsage & { readonly type?: string })[] | null;
}
