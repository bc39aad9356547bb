/** Splits an item that came without deltas into its start and the deltas that would have written it. */

import type { ModelEvent } from "../../protocol/model-events.ts";
import { partsOf, type WireItem, type WirePart } from "./schema.ts";

/** The item without its text. */
export function toBegun(item: WireItem): WireItem {
  switch (item.type) {
    case "message":
      return { ...item, status: "in_progress", content: [] };
    case "reasoning": {
      const { content: _, ...rest } = item;
      return { ...rest, summary: [] };
    }
    case "custom_tool_call":
      return { ...item, input: "" };
    default:
      return item;
  }
}

/** Writes the deltas. `text` is the input of a call: its arguments, or its free text. */
export function writeDeltas(
  { item, index, text }: { readonly item: WireItem; readonly index: number; readonly text: string },
  out: ModelEvent[],
): void {
  if (text !== "") out.push({ type: "arguments_delta", index, delta: text });
  if (item.type === "reasoning") {
    writeThoughts(item.summary ?? [], { index, kind: "summary" }, out);
    writeThoughts(partsOf(item), { index, kind: "text" }, out);
  }
  if (item.type !== "message") return;
  for (const [part, content] of partsOf(item).entries()) {
    writePart(content, { index, part }, out);
  }
}

function writeThoughts(
  parts: readonly WirePart[],
  place: { readonly index: number; readonly kind: "summary" | "text" },
  out: ModelEvent[],
): void {
  for (const [part, { text }] of parts.entries()) {
    if (text) out.push({ type: "reasoning_delta", ...place, part, delta: text });
  }
}

function writePart(
  { text, refusal, logprobs, annotations }: WirePart,
  place: { readonly index: number; readonly part: number },
  out: ModelEvent[],
): void {
  if (refusal) out.push({ type: "refusal_delta", ...place, delta: refusal });
  if (!text) return;
  const likely = logprobs && logprobs.length > 0 ? { logprobs } : {};
  out.push({ type: "text_delta", ...place, delta: text, ...likely });
  for (const annotation of annotations ?? [])
    out.push({ type: "annotation", ...place, annotation });
}
