/** A finished content block as the events that would have streamed it. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

/** Its name and payload, as `ConverseStream` has them. */
export type StreamEvent = readonly [name: string, payload: JsonObject];

/** Undefined for a block of a kind that has no stream form we know: it is kept as it is. */
export function toStreamEvents(block: JsonObject, number: number): StreamEvent[] | undefined {
  const { toolUse, reasoningContent, citationsContent, text } = block;
  const place = { contentBlockIndex: number };
  const deltas = (all: readonly JsonObject[]): StreamEvent[] => [
    ...all.map((delta): StreamEvent => ["contentBlockDelta", { ...place, delta }]),
    ["contentBlockStop", place],
  ];
  if (typeof text === "string") return deltas([{ text }]);
  if (isJsonObject(reasoningContent)) {
    return deltas(
      toReasoningDeltas(reasoningContent).map((delta) => ({ reasoningContent: delta })),
    );
  }
  if (isJsonObject(citationsContent)) return deltas(toCitedDeltas(citationsContent));
  if (!isJsonObject(toolUse) || toolUse["type"] !== undefined) return undefined;
  const { input = {}, ...start } = toolUse;
  const delta = { toolUse: { input: JSON.stringify(input) } };
  return [["contentBlockStart", { ...place, start: { toolUse: start } }], ...deltas([delta])];
}

function toReasoningDeltas({ reasoningText, redactedContent }: JsonObject): JsonObject[] {
  if (redactedContent !== undefined) return [{ redactedContent }];
  if (!isJsonObject(reasoningText)) return [];
  const { text, signature } = reasoningText;
  return [{ text }, { signature }].filter((delta) => Object.values(delta)[0] !== undefined);
}

function toCitedDeltas({ content, citations }: JsonObject): JsonObject[] {
  const texts = listOf(content).map(({ text }) => ({ text }));
  return [...texts, ...listOf(citations).map((citation) => ({ citation }))];
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
