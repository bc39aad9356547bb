/**
 * Content blocks of Anthropic's Messages API, for both who speak it here: the wire that asks servers in it, and the
 * endpoint that clients ask in it. What a block becomes that no item of ours has a place for is named here, so that
 * either side gives back what the other took.
 */

import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import type { Annotation } from "./content.ts";

/** Marks the end of a prefix that the server keeps: for five minutes, or for an hour. */
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

/** Blocks that we write ourselves; those a server gave us go back word for word, under a cast. */
export type MessagesBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ThinkingBlock
  | RedactedBlock
  | ToolUseBlock
  | ToolResultBlock;

/** Instructions stand in the middle of a conversation, where a client has put them there. */
export type MessagesTurn =
  | { role: "user" | "assistant"; content: MessagesBlock[] }
  | { role: "system"; content: TextBlock[] };

/** Names this API in the envelope of a sealed block (`sealed-reasoning.ts`). */
export const SEALER = "messages";

/** The type of an item that carries a block is this and the block's own; the block is its `block`. */
export const FOREIGN = "anthropic:";

/** Stands for the fields of a call that a function call has no place for. */
export const CALL_FIELDS = "tool_use";

/** Stands for the machine on which the vendor runs the answer's programs. */
export const CONTAINER = "container";

/**
 * The field that holds what the vendor is told word for word: of an item the blocks it was made of, of an annotation
 * its citation, of a part its block or fields of it, of a tool fields of its definition, of a message where it stands.
 */
export const BLOCKS = "anthropic";

/** What `BLOCKS` of a message says of its place. */
export interface MessagePlace {
  /** Instructions that stay where the client put them, as a turn of their own. */
  readonly in_place?: true;
  /** The beginning of the answer, which the model goes on with. */
  readonly prefill?: true;
}

export function placeOf(message: object): MessagePlace {
  const place = (message as JsonObject)[BLOCKS];
  return isJsonObject(place) ? (place as MessagePlace) : {};
}

/**
 * Tokens to think with, for each effort, where a model is given a budget of them. The API takes no less than the
 * first.
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
 * What a text cites, as an annotation that keeps the citation itself: the API wants it back with the text. `end`: where the cited text ends; it starts at 0, because it is all of its part.
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

/** What a call says beside its input: which program made it, of which set of tools it is. */
export function fieldsOfCall(block: JsonObject): JsonObject | undefined {
  const { caller } = block;
  // A direct call is what the API takes one for that says nothing.
  const isDirect = !isJsonObject(caller) || caller["type"] === "direct";
  const known = ["type", "id", "name", "input", "cache_control", ...(isDirect ? ["caller"] : [])];
  const fields = Object.entries(block).filter(([name]) => !known.includes(name));
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
