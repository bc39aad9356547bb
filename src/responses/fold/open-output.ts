/**
 * The output of a response while it grows. An item keeps its index (`output_index`) for ever. Items that a takeover
 * abandoned are removed from the list that is shown, so indices may be missing there.
 */

import type { EmittedItem } from "../../protocol/emitted.ts";

export interface OutputList {
  /** Returns the item's index. */
  add(item: EmittedItem): number;
  replace(place: number, item: EmittedItem): void;
  /** From here on the item is part of no answer and of no history. */
  abandon(place: number): void;
  /** Number of indices in use. */
  readonly length: number;
  /** Every item at its index, abandoned ones included. */
  readonly all: readonly EmittedItem[];
  /**
   * Without abandoned items, and without `unfinished` indices. Works on any list with one entry for each item.
   */
  select<Said>(items: readonly Said[], unfinished?: Iterable<number>): Said[];
}

export function createOutputList(): OutputList {
  const all: EmittedItem[] = [];
  const abandoned = new Set<number>();
  return {
    add: (item) => all.push(item) - 1,
    replace(place, item) {
      all[place] = item;
    },
    abandon: (place) => void abandoned.add(place),
    get length() {
      return all.length;
    },
    all,
    select(items, unfinished = []) {
      const left = new Set<unknown>();
      for (const place of [...abandoned, ...unfinished]) left.add(all[place]);
      return left.size === 0 ? [...items] : items.filter((item) => !left.has(item));
    },
  };
}
