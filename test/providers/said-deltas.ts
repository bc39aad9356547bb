/** Checks that the deltas of every item have the same text as the item at its end. */

import assert from "node:assert/strict";
import type { Item } from "../../src/protocol/items.ts";
import type { ModelEvent } from "../../src/protocol/model-events.ts";

/** Fails if an item's text differs from its deltas. A shortened stream has only the beginning. */
export function assertDeltas(
  events: readonly ModelEvent[],
  { isShortened = false }: { readonly isShortened?: boolean } = {},
): void {
  for (const event of events) {
    if (event.type !== "item_end") continue;
    const text = textIn(event.item);
    if (text === undefined) continue;
    const said = saidOf(events, event.index);
    assert.equal(isShortened ? text.slice(0, said.length) : text, said);
  }
}

/** The text of an item that deltas have too; undefined for items that come whole. */
function textIn(item: Item): string | undefined {
  if (item.type === "function_call") return item.arguments;
  if (item.type === "custom_tool_call") return item.input;
  if (item.type === "reasoning") {
    return [...item.summary, ...(item.content ?? [])].map(({ text }) => text).join("");
  }
  if (item.type !== "message" || typeof item.content === "string") return undefined;
  const texts = item.content.map((part) => {
    if (part.type === "refusal") return part.refusal;
    return part.type === "output_text" ? part.text : "";
  });
  return texts.join("");
}

function saidOf(events: readonly ModelEvent[], index: number): string {
  return events
    .map((event) => ("delta" in event && event.index === index ? event.delta : ""))
    .join("");
}
