/** Converts a finished content block to the events that would have streamed it. */

import type { BlockStart, ConverseAnswerBlock, ConverseBlockDelta, Delta } from "./schema.ts";

/** An event's name and payload, as in `ConverseStream`. */
export type ConverseEvent = readonly [name: string, payload: BlockStart | ConverseBlockDelta];

/** Undefined for a block without a known stream form. It is kept unchanged. */
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
