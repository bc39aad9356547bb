/**
 * Content blocks of Anthropic's Messages API, for both sides that use it here: the wire that sends requests
 * to servers, and the endpoint that clients call. Blocks that fit none of our items get a name here, so
 * that each side gives back what the other took.
 */

import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import type { Annotation } from "./content.ts";

/** The published values of the header `anthropic-version`, from the oldest. The newest refuses sampling parameters. */
export const MESSAGES_VERSIONS = ["2023-01-01", "2023-06-01", "2026-10-21"] as const;

/** Marks the end of a prefix that the server caches: for five minutes, or for an hour. */
export interface Cached {
  cache_control?: { readonly type: "ephemeral"; readonly ttl?: "1h" };
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

export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
  signature: string;
}

export interface RedactedBlock {
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

/** A citation as the server accepts it back: what it gave, except `file_id`. */
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

/** Blocks that we write ourselves. Blocks from a server go back word for word, under a cast. */
export type MessagesBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ThinkingBlock
  | RedactedBlock
  | ToolUseBlock
  | ToolResultBlock;

/** A turn of the conversation. Instructions may be in the middle of it, if a client put them there. */
export type MessagesTurn =
  | { role: "user" | "assistant"; content: MessagesBlock[] }
  | { role: "system"; content: TextBlock[] };

/** Names this API in the envelope of a sealed block (`sealed-reasoning.ts`). */
export const SEALER = "messages";

/**
 * The type of an item that carries a block is this prefix and the block's own type; the block is its
 * `block`.
 */
export const FOREIGN = "anthropic:";

/** The name for fields of a call that a function call has no place for. */
export const CALL_FIELDS = "tool_use";

/** The name for the machine on which the vendor runs the answer's programs. */
export const CONTAINER = "container";

/**
 * The field that holds what the vendor is sent word for word: the blocks that an item was made of, the
 * citation of an annotation, the block or some fields of a part, fields of a tool's definition, the
 * position of a message.
 */
export const BLOCKS = "anthropic";

/** The position of a message, in its `BLOCKS`. */
export interface MessagePlace {
  /** Instructions that stay where the client put them, as a separate turn. */
  readonly in_place?: true;
  /** The beginning of the answer, which the model continues. */
  readonly prefill?: true;
}

export function placeOf(message: object): MessagePlace {
  const place = (message as JsonObject)[BLOCKS];
  return isJsonObject(place) ? (place as MessagePlace) : {};
}

/**
 * Thinking tokens for each effort, for models that take a budget. The API accepts no less than the first.
 */
export const THINKING_BUDGETS = {
  minimal: 1024,
  low: 4096,
  medium: 10_240,
  high: 20_480,
  xhigh: 32_768,
  max: 49_152,
} as const;

/**
 * A citation of a text as an annotation. The annotation keeps the citation itself, because the API wants it
 * back with the text. `end` is where the cited text ends; it starts at 0, because it is all of its part.
 */
export function toAnnotation(citation: JsonObject, end: number): Annotation {
  const span = { start_index: 0, end_index: end, [BLOCKS]: citation };
  const url = textOf(citation["url"]) ?? textOf(citation["source"]);
  if (url !== undefined) {
    return { type: "url_citation", url, title: textOf(citation["title"]) ?? "", ...span };
  }
  const { document_index: index } = citation;
  return {
    type: "file_citation",
    file_id: textOf(citation["file_id"]) ?? "",
    filename: textOf(citation["document_title"]) ?? "",
    quote: textOf(citation["cited_text"]) ?? null,
    ...(typeof index === "number" ? { index } : {}),
    ...span,
  };
}

/** The fields of a call besides its input: which program made it, and which set of tools it belongs to. */
export function fieldsOfCall(block: JsonObject): JsonObject | undefined {
  const { caller } = block;
  // The API treats a call without a caller as a direct one.
  const isDirect = !isJsonObject(caller) || caller["type"] === "direct";
  const known = ["type", "id", "name", "input", "cache_control", ...(isDirect ? ["caller"] : [])];
  const fields = Object.entries(block).filter(([name]) => !known.includes(name));
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
