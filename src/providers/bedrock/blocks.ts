/**
 * Content blocks while they are being written, and the items they become.
 *
 * A block of text and a block of reasoning are known by their first piece, a call by its start.
 * What the vendor's own tools say is kept as the block it is, in an item of the vendor's kind.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { Annotation, OutputText } from "../../protocol/content.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import { seal, unseal } from "../../protocol/sealed-reasoning.ts";
import type { Citation, ReasoningContent } from "./schema.ts";

/** Who can open what is sealed here. */
const WIRE = "bedrock";

/** One record for all kinds, because all are made of pieces; its kind says which fields are used. */
export interface Block extends BlockHead {
  /** Text, or JSON of an input. */
  readonly pieces: string[];
  readonly annotations: Annotation[];
  /** Over reasoning. */
  signature: string;
  /** Of an image, or of what stands in the place of reasoning. */
  readonly bytes: Buffer[];
  /** Contents of a result of the vendor's own tool. */
  readonly results: Json[];
  isStopped: boolean;
}

export interface BlockHead {
  /** `own`: `toolUse` of a tool that the vendor runs, its `toolResult`, an `image`. */
  readonly kind: "text" | "reasoning" | "call" | "own";
  /** Place among the items of the answer. */
  readonly index: number;
  /** The vendor's number, which counts blocks that make no item as well. */
  readonly number: number;
  /** Whose model writes it. */
  readonly maker: string;
  /** Whether that model is given back what it thought without a signature. */
  readonly keepsUnsigned: boolean;
  /** Of a call, and of a search. */
  readonly callId: string;
  /** The tool of a call; the key of a block of the vendor's own. */
  readonly name: string;
  /** What a block of the vendor's own started with. */
  readonly start: JsonObject;
}

export function createBlock(head: BlockHead): Block {
  const room = { pieces: [], annotations: [], signature: "", bytes: [], results: [] };
  return { ...head, ...room, isStopped: false };
}

export type Status = "in_progress" | "completed" | "incomplete";

/** The item as far as it has come; with `in_progress` as it starts. */
export function toItem(block: Block, status: Status): Item {
  switch (block.kind) {
    case "text":
      return toMessage(block, status);
    case "reasoning":
      return toReasoning(block);
    case "call":
      return toCall(block, status);
    case "own":
      return toOwnItem(block.name, toOwnBlock(block));
  }
}

/** An item that only this wire reads again; the block goes back as it came. */
export function toOwnItem(type: string, block: JsonObject): Item {
  // An item of an open kind, which the union of known ones does not name.
  return { type: `bedrock:${type}`, block } as unknown as Item;
}

/** The block in an item that was made of one of the vendor's own. */
export function ownBlockOf(item: JsonObject): JsonObject | undefined {
  const own = item[WIRE];
  const holder = isJsonObject(own) ? own : String(item["type"]).startsWith(`${WIRE}:`) ? item : {};
  return isJsonObject(holder["block"]) ? holder["block"] : undefined;
}

/** A search of the vendor's, as whoever asked for `web_search` knows one. */
export function toSearchItem(search: Block, status: Status): Item {
  const block = toOwnBlock(search);
  const { input } = isJsonObject(block["toolUse"]) ? block["toolUse"] : {};
  const asked = isJsonObject(input) ? input["query"] : undefined;
  const query = typeof asked === "string" ? asked : "";
  return {
    ...{ type: "web_search_call", id: search.callId, status },
    action: { type: "search", query, queries: [query], sources: [] },
    ...(status !== "in_progress" && { [WIRE]: { block } }),
  } as unknown as Item;
}

/** What the model of this maker is given back; undefined for the reasoning of any other. */
export function unsealReasoning(
  sealed: string | null | undefined,
  maker: string,
): ReasoningContent | undefined {
  const opened = unseal(WIRE, sealed);
  if (!isJsonObject(opened)) return undefined;
  const { maker: sealer, ...content } = opened;
  return sealer === maker ? (content as ReasoningContent) : undefined;
}

export function isUnsigned(content: ReasoningContent): boolean {
  return "reasoningText" in content && content.reasoningText.signature === undefined;
}

export function toAnnotation(citation: Citation): Annotation {
  const url = citation.location?.web?.url ?? (isUrl(citation.source) ? citation.source : undefined);
  if (url === undefined) return { type: "bedrock:citation", ...citation } as unknown as Annotation;
  return { type: "url_citation", url, title: citation.title ?? "" };
}

function isUrl(text: string | null | undefined): text is string {
  return /^https?:\/\//.test(text ?? "");
}

function toMessage({ pieces, annotations }: Block, status: Status): Item {
  const part: OutputText = { type: "output_text", text: pieces.join(""), annotations };
  const content = part.text === "" ? [] : [part];
  return { type: "message", role: "assistant", status, content };
}

function toReasoning(block: Block): Item {
  const text = block.pieces.join("");
  const content = text === "" ? [] : [{ type: "reasoning_text" as const, text }];
  const sealed = toSealed(block, text);
  if (!sealed) return { type: "reasoning", summary: [], content };
  const encrypted_content = seal(WIRE, { maker: block.maker, ...sealed });
  return { type: "reasoning", summary: [], content, encrypted_content };
}

/**
 * The text goes in as well: the signature fits it as it was, whatever becomes of the text that people
 * see.
 */
function toSealed(
  { signature, bytes, keepsUnsigned }: Block,
  text: string,
): ReasoningContent | undefined {
  if (bytes.length > 0) return { redactedContent: toBase64(bytes) };
  if (signature !== "") return { reasoningText: { text, signature } };
  return keepsUnsigned && text !== "" ? { reasoningText: { text } } : undefined;
}

function toCall({ callId, name, pieces }: Block, status: Status): FunctionCall {
  return { type: "function_call", call_id: callId, name, arguments: pieces.join(""), status };
}

function toOwnBlock({ name, start, pieces, bytes, results }: Block): JsonObject {
  const text = pieces.join("");
  if (name === "toolUse") return { toolUse: { ...start, input: tryParseJson(text) ?? {} } };
  if (name === "toolResult") return { toolResult: { ...start, content: results } };
  return { [name]: bytes.length === 0 ? start : { ...start, source: { bytes: toBase64(bytes) } } };
}

/** Each piece is base64 of its own, so they are joined as bytes. */
function toBase64(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString("base64");
}
