/**
 * What the client has answered or said in the middle of a response (`client_input` and `run_input` in its log). It is input and
 * no output: events and places of the output know nothing of it. In the conversation that the response
 * leaves behind it stands before the turn of the agent that went on with it, or at the end where that
 * has not begun.
 */

import type { Item } from "../../protocol/items.ts";

export interface GivenItems {
  /** `agent` is undefined where there is no team. */
  add(input: { readonly agent: string | undefined; readonly items: readonly Item[] }): void;
  /** Called when an agent's turn begins, with how many items the output has. */
  read(agent: string | undefined, outputLength: number): void;
  placed(): readonly PlacedItem[];
}

export interface PlacedItem {
  readonly item: Item;
  /** The place of the output that it stands before; undefined for one that stands at the end. */
  readonly before: number | undefined;
}

export function createGivenItems(): GivenItems {
  const placed: PlacedItem[] = [];
  /** Of those who have not gone on yet. */
  const unread = new Map<string | undefined, Item[]>();
  return {
    add: ({ agent, items }) => void unread.set(agent, [...(unread.get(agent) ?? []), ...items]),
    read(agent, before) {
      const items = unread.get(agent);
      if (!items) return;
      unread.delete(agent);
      for (const item of items) placed.push({ item, before });
    },
    placed: () => [
      ...placed,
      ...[...unread.values()].flat().map((item) => ({ item, before: undefined })),
    ],
  };
}

/** `output` with what was given in its places. */
export function withGiven<Said>(
  output: readonly Said[],
  given: readonly PlacedItem[],
): (Said | Item)[] {
  const all: (Said | Item)[] = [];
  const at = (place: number | undefined): Item[] =>
    given.flatMap(({ item, before }) => (before === place ? [item] : []));
  for (const [place, item] of output.entries()) all.push(...at(place), item);
  // Where nothing was said behind them.
  const rest = given.filter(({ before }) => before === undefined || before >= output.length);
  return [...all, ...rest.map(({ item }) => item)];
}
