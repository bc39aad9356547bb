/**
 * The blocks of an answer by the rules of the API alone: what must come back in the next request. It shares
 * no code with the decoder.
 */

import { isJsonObject, type Json, type JsonObject } from "../../../src/base/json.ts";

/** Joins the pieces of a stream, block by block. */
export function joinBlocks(events: readonly JsonObject[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const event of events) {
    const { contentBlockStart: start, contentBlockDelta: delta } = event;
    if (isJsonObject(start)) join(blocks, start, start["start"]);
    if (isJsonObject(delta)) join(blocks, delta, delta["delta"]);
  }
  return blocks.filter(Boolean).map(toFinished);
}

/** The blocks of a whole answer, without the `type` that tests added by hand. */
export function blocksIn(answer: { output: { message: { content: JsonObject[] } } }): JsonObject[] {
  return answer.output.message.content.map(({ type: _, toolUse, ...block }) =>
    isJsonObject(toolUse) ? { ...block, toolUse: withoutOrdinaryType(toolUse) } : block,
  );
}

/** Ordinary calls name their type, which requests do not have. */
function withoutOrdinaryType({ type, ...toolUse }: JsonObject): JsonObject {
  return type === undefined || type === "tool_use" ? toolUse : { ...toolUse, type };
}

function join(blocks: JsonObject[], { contentBlockIndex }: JsonObject, piece: unknown): void {
  const index = Number(contentBlockIndex);
  if (isJsonObject(piece)) blocks[index] = joined(blocks[index] ?? {}, piece);
}

function joined(known: JsonObject, piece: JsonObject): JsonObject {
  const all: Record<string, Json | undefined> = { ...known };
  for (const [name, value] of Object.entries(piece)) {
    const before = known[name];
    // A result starts as an object, and its pieces are lists of its contents.
    const more = Array.isArray(value) ? { content: value } : value;
    if (isJsonObject(more)) all[name] = joinedObject(before, more);
    else all[name] = typeof before === "string" ? before + String(value) : value;
  }
  return all;
}

function joinedObject(before: Json | undefined, { content, ...piece }: JsonObject): JsonObject {
  const known = isJsonObject(before) ? before : {};
  return { ...joined(known, piece), ...(content !== undefined && { content }) };
}

/** Sources are not sent back. */
function toFinished({ text, toolUse, toolResult, reasoningContent }: JsonObject): JsonObject {
  if (isJsonObject(toolUse)) {
    const input = String(toolUse["input"] ?? "") || "{}";
    return { toolUse: { ...withoutOrdinaryType(toolUse), input: JSON.parse(input) } };
  }
  if (toolResult) return { toolResult };
  if (!isJsonObject(reasoningContent)) return { text };
  const isReadable = reasoningContent["redactedContent"] === undefined;
  return { reasoningContent: isReadable ? { reasoningText: reasoningContent } : reasoningContent };
}
