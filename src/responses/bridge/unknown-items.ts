/** Items of kinds that nobody here knows. They are kept as they came, and named as left out; no model is sent them. */

import { ITEM_TYPES, type Item } from "../../protocol/items.ts";

const KNOWN: ReadonlySet<string> = new Set(ITEM_TYPES);

/** `owns` says whether an item is the provider's own. */
export function isUnknown(item: Item, owns: (item: Item) => boolean): boolean {
  return !KNOWN.has(item.type) && !owns(item);
}

/** By their places in the request: `input[2] (acme_thing)`. */
export function nameUnknown(
  items: readonly Item[],
  owns: (item: Item) => boolean,
): readonly string[] {
  return items.flatMap((item, at) =>
    isUnknown(item, owns) ? [`input[${at}] (${item.type})`] : [],
  );
}
