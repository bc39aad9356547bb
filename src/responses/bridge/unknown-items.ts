/**
 * Items of unknown kinds. They are kept as they came, and reported as left out; no model gets them.
 */

import { ITEM_TYPES, type Item } from "../../protocol/items.ts";

const KNOWN: ReadonlySet<string> = new Set(ITEM_TYPES);

/** `owns` returns true if an item is the provider's own. */
export function isUnknown(item: Item, owns: (item: Item) => boolean): boolean {
  return !KNOWN.has(item.type) && !owns(item);
}

/** Names them by their places in the request: `input[2] (acme_thing)`. */
export function nameUnknown(
  items: readonly Item[],
  owns: (item: Item) => boolean,
): readonly string[] {
  return items.flatMap((item, at) =>
    isUnknown(item, owns) ? [`input[${at}] (${item.type})`] : [],
  );
}
