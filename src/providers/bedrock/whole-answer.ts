/** A finished content block as the events that would have streamed it. */

import type { AnswerBlock, BlockDelta, BlockStart, Delta } from "./schema.ts";

/** Its name and payload, as `ConverseStream` has them. */
export type StreamEvent = readonly [name: string, payload: BlockStart | BlockDelta];

/** Undefined for a block of a kind that has no stream form we know: it is kept as it is. */
export function toStreamEvents(block: AnswerBlock, number: number): StreamEvent[] | undefined {
  const { toolUse, reasoningContent, citationsContent, text } = block;
  const place = { contentBlockIndex: number };
  const deltas = (all: readonly Delta[]): StreamEvent[] => [
    ...all.map((delta): StreamEvent => ["contentBlockDelta", { ...place, delta }]),
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

type Content<Name extends keyof AnswerBlock> = NonNullable<AnswerBlock[Name]>;

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
