/**
 * An index of stored items, so that a request can refer to an item by its id alone. An entry is deleted with its
 * response or conversation.
 *
 * An id is found where it was seen first. The item itself is stored once, by its response or conversation.
 */

import { nextTurn } from "../../base/turn.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import { STORED_ITEM } from "../../protocol/stored-items.ts";
import type { NewThing, Shelf } from "../../store/shelf.ts";
import { ITEM_KIND as CONVERSATION_ITEM, nameItem } from "../conversations/new-items.ts";

import { toRunOfItem } from "../fold/emitted-item.ts";
import { toResponseId } from "../fold/response-object.ts";
import { readOutput } from "../kept/kept-output.ts";
import { findKept, ITEM_KIND, readInput } from "../kept/kept-response.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";

/**
 * Entries of conversations have a kind of their own: one id may be in a response and in a conversation.
 */
const IN_CONVERSATION = `${CONVERSATION_ITEM}_place`;

export interface ItemIndexParts extends Pick<ShelfParts, "shelf" | "clock"> {
  readonly place: Engine;
}

export interface ItemHome {
  readonly tenant: string;
  /** The id of the response or conversation. */
  readonly parent: string;
  readonly kind: "response" | "conversation";
}

/** The entries of items, to be stored; an existing entry is left as it is. */
export function toEntries(
  { tenant, parent, kind }: ItemHome,
  items: readonly { readonly id?: unknown }[],
  nowMs: number,
): NewThing[] {
  const entry = { tenant, parent, kind: kind === "response" ? ITEM_KIND : IN_CONVERSATION };
  const rest = { body: null, created_at_ms: nowMs, expires_at_ms: null };
  const ids = items.flatMap(({ id }) => (typeof id === "string" && id !== "" ? [id] : []));
  // An id that names its own place needs no entry.
  return ids.filter((id) => toHome(id) !== parent).map((id) => ({ ...entry, ...rest, id }));
}

/** May be repeated: an existing entry is left as it is. Writes nothing for what was deleted meanwhile. */
export async function indexItems(
  { shelf, clock }: Pick<ItemIndexParts, "clock"> & { readonly shelf: Pick<Shelf, "putUnder"> },
  home: ItemHome,
  items: readonly { readonly id?: unknown }[],
): Promise<void> {
  await putEntries(shelf, home, toEntries(home, items, clock.now()));
}

/**
 * Written in one transaction of about 10 ms. Ten thousand at once would delay all other requests.
 */
export const ENTRIES_AT_ONCE = 500;

/** Writes a limited number at a time, while the response or conversation exists. */
export async function putEntries(
  shelf: Pick<Shelf, "putUnder">,
  { tenant, kind, parent: id }: ItemHome,
  entries: readonly NewThing[],
): Promise<void> {
  for (let from = 0; from < entries.length; from += ENTRIES_AT_ONCE) {
    if (from > 0) await nextTurn();
    const page = entries.slice(from, from + ENTRIES_AT_ONCE);
    if ((await shelf.putUnder({ tenant, kind, id }, page)) === undefined) return;
  }
}

export type FindItem = (tenant: string, id: string) => Promise<Item | undefined>;

/** Reads each response once, however many of its items are needed. Made for each request. */
export function createFindItem(parts: ItemIndexParts): FindItem {
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
      if (thing) return STORED_ITEM.read(thing.body);
    }
    const inResponse = await shelf.get({ tenant, kind: ITEM_KIND, id });
    const home = inResponse?.parent ?? toHome(id);
    const items = home ? await readOnce(tenant, home) : [];
    return items.find((item) => "id" in item && item.id === id);
  };
}

/** Ids that this server made up for input and output of a run name the run. */
function toHome(id: string): string | undefined {
  const runId = toRunOfItem(id);
  return runId && toResponseId(runId);
}

async function readAll(
  { shelf, place }: ItemIndexParts,
  tenant: string,
  id: string,
): Promise<readonly Item[]> {
  const kept = await findKept(shelf, tenant, id);
  const input = kept && (await readInput(place, id, kept));
  if (!input) return [];
  return [...input, ...((await readOutput({ shelf, place }, tenant, id)) ?? [])];
}
