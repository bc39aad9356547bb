/**
 * Content blocks while they are written, and the items that they become.
 *
 * The kind of a text block or a reasoning block is known from its first piece, that of a call from its
 * start. Blocks of the vendor's own tools are kept unchanged, in an item of the vendor's kind.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { Annotation, OutputText } from "../../protocol/content.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import { seal, unseal } from "../../protocol/sealed-reasoning.ts";
import type {
  BlockStart,
  ConverseAnswerBlock,
  ConverseBlockDelta,
  ConverseCitation,
  Delta,
  ReasoningContent,
} from "./schema.ts";

/** The wire that can open what is sealed here. */
const WIRE = "bedrock";

/**
 * A block of any kind. One record for all kinds, because all are made of pieces; the kind says which fields
 * are used.
 */
export interface Block extends BlockHead {
  /** The pieces of a text, or of the JSON of a call's input. */
  readonly pieces: string[];
  readonly annotations: Annotation[];
  /** The signature of reasoning. */
  signature: string;
  /** The bytes of an image, or of redacted reasoning. */
  readonly bytes: Buffer[];
  /** The contents of a result of the vendor's own tool. */
  readonly results: Json[];
  isStopped: boolean;
}

export interface BlockHead {
  /** `own` is a `toolUse` of a tool that the vendor runs, its `toolResult`, or an `image`. */
  readonly kind: "text" | "reasoning" | "call" | "own";
  /** Position among the items of the answer. */
  readonly index: number;
  /** The vendor's number, which also counts blocks that do not become items. */
  readonly number: number;
  /** The maker of the model. */
  readonly maker: string;
  /** True if unsigned reasoning is sent back to this model. */
  readonly keepsUnsigned: boolean;
  /** The id of a call or a search. */
  readonly callId: string;
  /** The tool of a call, or the key of a block of the vendor's own. */
  readonly name: string;
  /** The start event of a block of the vendor's own. */
  readonly start: JsonObject;
}

export function createBlock(head: BlockHead): Block {
  const room = { pieces: [], annotations: [], signature: "", bytes: [], results: [] };
  return { ...head, ...room, isStopped: false };
}

export type BlockStatus = "in_progress" | "completed" | "incomplete";

/** The item as far as it has been written. `in_progress` gives the item as it starts. */
export function toItem(block: Block, status: BlockStatus): Item {
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

/** An item that only this wire reads. Its block is sent back unchanged. */
export function toOwnItem(type: string, block: JsonObject): Item {
  // The item's kind is open: the union of known kinds does not name it.
  return { type: `bedrock:${type}`, block } as unknown as Item;
}

/** The block in an item that was made from a block of the vendor's own. */
export function ownBlockOf(item: JsonObject): JsonObject | undefined {
  const own = item[WIRE];
  const holder = isJsonObject(own) ? own : String(item["type"]).startsWith(`${WIRE}:`) ? item : {};
  return isJsonObject(holder["block"]) ? holder["block"] : undefined;
}

/** A search by the vendor, in the form of `web_search` for clients that asked for that tool. */
export function toSearchItem(search: Block, status: BlockStatus): Item {
  const block = toOwnBlock(search);
  const { input } = isJsonObject(block["toolUse"]) ? block["toolUse"] : {};
  const asked = isJsonObject(input) ? input["query"] : undefined;
  const query = typeof asked === "string" ? asked : "";
  return {
    type: "web_search_call",
    id: search.callId,
    status,
    action: { type: "search", query, queries: [query], sources: [] },
    ...(status !== "in_progress" && { [WIRE]: { block } }),
  } as unknown as Item;
}

/** The reasoning block to send back to a model of this maker. Undefined for the reasoning of other makers. */
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

export function toAnnotation(citation: ConverseCitation): Annotation {
  const url = citation.location?.web?.url ?? (isUrl(citation.source) ? citation.source : undefined);
  if (url === undefined) return { type: "bedrock:citation", ...citation } as unknown as Annotation;
  return { type: "url_citation", url, title: citation.title ?? "" };
}

function isUrl(text: string | null | undefined): text is string {
  return /^https?:\/\//.test(text ?? "");
}

function toMessage({ pieces, annotations }: Block, status: BlockStatus): Item {
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
 * The reasoning as a sealed block. The text is in it as well: the signature covers the original text, even
 * if the visible text changes later.
 */
function toSealed(
  { signature, bytes, keepsUnsigned }: Block,
  text: string,
): ReasoningContent | undefined {
  if (bytes.length > 0) return { redactedContent: toBase64(bytes) };
  if (signature !== "") return { reasoningText: { text, signature } };
  return keepsUnsigned && text !== "" ? { reasoningText: { text } } : undefined;
}

function toCall({ callId, name, pieces }: Block, status: BlockStatus): FunctionCall {
  return { type: "function_call", call_id: callId, name, arguments: pieces.join(""), status };
}

function toOwnBlock({ name, start, pieces, bytes, results }: Block): JsonObject {
  const text = pieces.join("");
  if (name === "toolUse") return { toolUse: { ...start, input: tryParseJson(text) ?? {} } };
  if (name === "toolResult") return { toolResult: { ...start, content: results } };
  return { [name]: bytes.length === 0 ? start : { ...start, source: { bytes: toBase64(bytes) } } };
}

/** The pieces as one base64 text. Each piece is base64 of its own, so they are joined as bytes. */
function toBase64(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString("base64");
}

/** An event's name and payload, as in `ConverseStream`. */
type ConverseEvent = readonly [name: string, payload: BlockStart | ConverseBlockDelta];

/**
 * Converts a finished block to the events that would have streamed it. Undefined for a block without a known stream
 * form, which is kept unchanged.
 */
export function toStreamEvents(
  block: ConverseAnswerBlock,
  number: number,
): ConverseEvent[] | undefined {
  const { toolUse, reasoningContent, citationsContent, text } = block;
  const place = { contentBlockIndex: number };
  const deltas = (all: readonly Delta[]): ConverseEvent[] => [
    ...all.map((delta): ConverseEvent => ["contentBlockDelta", { ...place, delta }]),
    ["contentBlockStop", place],
  ];
  if (typeof text === "string") return deltas([{ text }]);
  if (reasoningContent) return deltas(toReasoningDeltas(reasoningContent));
  if (citationsContent) return deltas(toCitedDeltas(citationsContent));
  if (!toolUse) return undefined;
  const { input, ...start } = toolUse;
  const delta = { toolUse: { input: JSON.stringify(input ?? {}) } };
  return [["contentBlockStart", { ...place, start: { toolUse: start } }], ...deltas([delta])];
}

type Content<Name extends keyof ConverseAnswerBlock> = NonNullable<ConverseAnswerBlock[Name]>;

function toReasoningDeltas({
  reasoningText,
  redactedContent,
}: Content<"reasoningContent">): Delta[] {
  if (redactedContent) return [{ reasoningContent: { redactedContent } }];
  return reasoningText ? [{ reasoningContent: reasoningText }] : [];
}

function toCitedDeltas({ content, citations }: Content<"citationsContent">): Delta[] {
  const texts = (content ?? []).map(({ text }) => ({ text: text ?? "" }));
  return [...texts, ...(citations ?? []).map((citation) => ({ citation }))];
}
