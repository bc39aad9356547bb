/**
 * Where each kept item is, so that it can be referred to by its id alone. An entry goes with what it is
 * in: a response that is deleted takes its entries along, and so does a conversation.
 *
 * An id is found where it was seen first. The item itself is kept once, by its response or conversation.
 */

import { nextTurn } from "../../base/turn.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { NewThing, Shelf } from "../../store/shelf.ts";
import { ITEM_KIND as CONVERSATION_ITEM, nameItem } from "../conversations/new-items.ts";

import { toResponseId } from "../fold/response-object.ts";
import { readOutput } from "../kept/kept-output.ts";
import { findKept, ITEM_KIND, readInput } from "../kept/kept-response.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";

/** Entries of conversations are of a kind of their own: one id may be in a response and in one of those. */
const IN_CONVERSATION = `${CONVERSATION_ITEM}_place`;

export interface IndexParts extends Pick<ShelfParts, "shelf" | "clock"> {
  readonly place: Engine;
}

export interface ItemHome {
  readonly tenant: string;
  /** The id of the response or conversation. */
  readonly parent: string;
  readonly kind: "response" | "conversation";
}

/** The entries of items, to be put: one that is there is left as it is. */
export function toEntries(
  { tenant, parent, kind }: ItemHome,
  items: readonly { readonly id?: unknown }[],
  nowMs: number,
): NewThing[] {
  const entry = { tenant, parent, kind: kind === "response" ? ITEM_KIND : IN_CONVERSATION };
  const rest = { body: null, created_at_ms: nowMs, expires_at_ms: null };
  const ids = items.flatMap(({ id }) => (typeof id === "string" && id !== "" ? [id] : []));
  // What says itself where it is needs no entry.
  return ids.filter((id) => toHome(id) !== parent).map((id) => ({ ...entry, ...rest, id }));
}

/** Repeatable: an entry that is there is left as it is. */
export async function indexItems(
  { shelf, clock }: Pick<IndexParts, "shelf" | "clock">,
  home: ItemHome,
  items: readonly { readonly id?: unknown }[],
): Promise<void> {
  await putEntries(shelf, toEntries(home, items, clock.now()));
}

/** Written in one transaction: about 10 ms. Ten thousand at once would keep everybody else waiting. */
export const ENTRIES_AT_ONCE = 500;

/** Some at a time. */
export async function putEntries(shelf: Shelf, entries: readonly NewThing[]): Promise<void> {
  for (let from = 0; from < entries.length; from += ENTRIES_AT_ONCE) {
    if (from > 0) await nextTurn();
    await shelf.putAll(entries.slice(from, from + ENTRIES_AT_ONCE));
  }
}

export type FindItem = (tenant: string, id: string) => Promise<Item | undefined>;

/** Reads each response once, however many of its items are asked for. Made anew for each request. */
export function createFindItem(parts: IndexParts): FindItem {
  const responses = new Map<string, Promise<readonly Item[]>>();
  const readOnce = (tenant: string, id: string): Promise<readonly Item[]> => {
    const known = responses.get(id) ?? readAll(parts, tenant, id);
    responses.set(id, known);
    return known;
  };
  return async (tenant, id) => {
    const { shelf } = parts;
    const inConversation = await shelf.get({ tenant, kind: IN_CONVERSATION, id });
    if (inConversation?.parent) {
      const conversation = { tenant, kind: "conversation", id: inConversation.parent };
      const thing = await shelf.get(nameItem(conversation, id));
      if (thing) return thing.body as unknown as Item;
    }
    const inResponse = await shelf.get({ tenant, kind: ITEM_KIND, id });
    const home = inResponse?.parent ?? toHome(id);
    const items = home ? await readOnce(tenant, home) : [];
    return items.find((item) => "id" in item && item.id === id);
  };
}

/** Ids that this server made up for what a model said hold their run's (`emitted-item.ts`). */
function toHome(id: string): string | undefined {
  const run = /^[a-z]+_([0-9a-z]{26})_\d+$/.exec(id)?.[1];
  return run && toResponseId(`run_${run}`);
}

async function readAll(
  { shelf, place }: IndexParts,
  tenant: string,
  id: string,
): Promise<readonly Item[]> {
  const kept = await findKept(shelf, tenant, id);
  const input = kept && (await readInput(place, id, kept));
  if (!input) return [];
  return [...input, ...((await readOutput({ shelf, place }, tenant, id)) ?? [])];
}
