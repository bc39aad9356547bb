/**
 * Input that the client has sent in the middle of a response (`client_input` and `run_input` in its log). It is not
 * output, so events and places of the output do not include it. In the conversation after the response,
 * it stands before the turn of the agent that continued with it, or at the end if that turn has not begun.
 */

import type { Item } from "../../protocol/items.ts";

export interface GivenItems {
  /** `agent` is undefined without a team. */
  add(input: { readonly agent: string | undefined; readonly items: readonly Item[] }): void;
  /** Called when an agent's turn begins, with the number of items in the output. */
  read(agent: string | undefined, outputLength: number): void;
  placed(): readonly PlacedItem[];
}

export interface PlacedItem {
  readonly item: Item;
  /** The index of the output item that it stands before; undefined if it is at the end. */
  readonly before: number | undefined;
}

export function createGivenItems(): GivenItems {
  const placed: PlacedItem[] = [];
  /** Input of agents that have not continued yet. */
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

/** `output` with the given input at its places. */
export function withGiven<Said>(
  output: readonly Said[],
  given: readonly PlacedItem[],
): (Said | Item)[] {
  const all: (Said | Item)[] = [];
  const at = (place: number | undefined): Item[] =>
    given.flatMap(({ item, before }) => (before === place ? [item] : []));
  for (const [place, item] of output.entries()) all.push(...at(place), item);
  // Input that no output follows.
  const rest = given.filter(({ before }) => before === undefined || before >= output.length);
  return [...all, ...rest.map(({ item }) => item)];
}
