/** Items of kinds that nobody here knows. They are kept as they came, and named as left out; no model is sent them. */

import { ITEM_TYPES, type Item } from "../../protocol/items.ts";

const KNOWN: ReadonlySet<string> = new Set(ITEM_TYPES);

/** `isNative` says whether the provider itself knows items of a type. */
export function isUnknown({ type }: Item, isNative: (type: string) => boolean): boolean {
  return !KNOWN.has(type) && !isNative(type);
}

/** By their places in the request: `input[2] (acme_thing)`. */
export function nameUnknown(
  items: readonly Item[],
  isNative: (type: string) => boolean,
): readonly string[] {
  return items.flatMap((item, at) =>
    isUnknown(item, isNative) ? [`input[${at}] (${item.type})`] : [],
  );
}
