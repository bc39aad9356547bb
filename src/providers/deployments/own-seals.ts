/**
 * Sealed reasoning of a name with several deployments. One account refuses what another one sealed, even at
 * the same vendor. So each seal is put in an envelope with the account's mark. Its own account gets it back
 * unchanged; for all others it is another vendor's seal, which every wire leaves out.
 */

import type { Item } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { seal, unseal } from "../../protocol/sealed-reasoning.ts";

/** Puts seals into envelopes. `mark` consists of letters only. */
export function markSeals(events: readonly ModelEvent[], mark: string): readonly ModelEvent[] {
  if (!events.some(hasSeal)) return events;
  return events.map((event) =>
    hasSeal(event) ? { ...event, item: markItem(event.item, mark) } : event,
  );
}

export function openSeals(items: readonly Item[], mark: string): readonly Item[] {
  if (!items.some(isSealedThought)) return items;
  return items.map((item) => {
    if (!isSealedThought(item)) return item;
    const opened = unseal(toSealer(mark), item.encrypted_content);
    return typeof opened === "string" ? { ...item, encrypted_content: opened } : item;
  });
}

type ItemEvent = Extract<ModelEvent, { readonly type: "item_start" | "item_end" }>;

function hasSeal(event: ModelEvent): event is ItemEvent {
  const isItem = event.type === "item_start" || event.type === "item_end";
  return isItem && isSealedThought(event.item);
}

function isSealedThought(item: Item): item is Extract<Item, { type: "reasoning" }> {
  return item.type === "reasoning" && Boolean(item.encrypted_content);
}

function markItem(item: Item, mark: string): Item {
  if (!isSealedThought(item)) return item;
  return { ...item, encrypted_content: seal(toSealer(mark), item.encrypted_content ?? "") };
}

function toSealer(mark: string): string {
  return `account-${mark}`;
}
