/** The items of a conversation: for clients in the API's form, for runs as they are stored. */

import { z } from "zod";
import { Failure } from "../../base/failure.ts";
import { countJsonChars } from "../../base/json-size.ts";
import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import type { Thing } from "../../store/shelf.ts";
import { MAX_CONTEXT_CHARS, toTooLong } from "../request/context-size.ts";
import { type ListPage, parseInclude, parsePaging, toWholePage } from "../tenant/paging.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import { nameConversation } from "./conversation-name.ts";
import { type Conversation, getConversation, toUnknownConversation } from "./conversations.ts";
import { readItemPage } from "./item-page.ts";
import {
  checkNewItems,
  ITEM_KIND,
  type ItemParts,
  NOT_KEPT,
  nameItem,
  nameNewItem,
  parseNewItems,
  putItems,
  readNewItems,
  toKeptItem,
} from "./new-items.ts";
import { type ShownItem, toShownItem } from "./shown-item.ts";

/**
 * Rows that are read at a time for a model's context: few enough that other requests are served in between. The first
 * ones are fewer, because their size is not known.
 */
const READ_ITEMS = 500;
const READ_FIRST = 8;

/** Names an item, and the fields of it to show. */
export interface ItemPlace {
  readonly conversationId: string;
  readonly itemId: string;
}

/** A request for the items of a conversation. `query` is that of the address. */
export interface ItemsRequest {
  readonly conversationId: string;
  readonly query: URLSearchParams;
}

export const NewItems = open({ items: z.array(z.unknown()) });

/** Adds up to 20 items and returns them in the API's form. `body` is the request's, unchecked. */
export async function createItems(
  parts: ItemParts,
  tenant: string,
  { conversationId, query }: ItemsRequest,
  body: unknown,
): Promise<ListPage<ShownItem>> {
  const { items } = parseAs(NewItems, body, "request");
  const name = nameConversation(tenant, conversationId);
  await getConversation(parts, tenant, conversationId);
  const named = await readNewItems(parts, tenant, parseNewItems(items));
  await checkNewItems(parts, name, named);
  const added = await putItems(parts, name, named);
  if (added === undefined) throw toUnknownConversation(conversationId);
  // Another request may have added another item under one of these ids meanwhile.
  if (added < named.length) await checkNewItems(parts, name, named);
  const include = toShown(query);
  return toWholePage(named.map(({ id, item }) => toShownItem(item, id, include)));
}

/**
 * Newest first, unless the query says otherwise. A page may have fewer items than requested, and says so.
 */
export async function listItems(
  parts: Pick<ShelfParts, "shelf">,
  tenant: string,
  { conversationId, query }: ItemsRequest,
): Promise<ListPage<ShownItem>> {
  await getConversation(parts, tenant, conversationId);
  const paging = parsePaging(query, { defaultOrder: "desc" });
  const toThingId = (id: string | undefined): string | undefined =>
    id === undefined ? undefined : nameItem(nameConversation(tenant, conversationId), id).id;
  const named = { ...paging, after: toThingId(paging.after), before: toThingId(paging.before) };
  const among = { tenant, kind: ITEM_KIND, parent: conversationId };
  const include = toShown(query);
  return await readItemPage(parts, among, named, (thing) => show(thing, include));
}

export async function getItem(
  parts: Pick<ShelfParts, "shelf">,
  tenant: string,
  { conversationId, itemId }: ItemPlace,
  query: URLSearchParams,
): Promise<ShownItem> {
  await getConversation(parts, tenant, conversationId);
  const thing = await parts.shelf.get(nameItem(nameConversation(tenant, conversationId), itemId));
  if (!thing) throw toUnknownItem(conversationId, itemId);
  return show(thing, toShown(query));
}

/** Returns the conversation that the item was in, as the API does. */
export async function deleteItem(
  parts: Pick<ShelfParts, "shelf">,
  tenant: string,
  { conversationId, itemId }: ItemPlace,
): Promise<Conversation> {
  const conversation = await getConversation(parts, tenant, conversationId);
  const name = nameItem(nameConversation(tenant, conversationId), itemId);
  if (!(await parts.shelf.delete(name))) throw toUnknownItem(conversationId, itemId);
  return conversation;
}

/**
 * Adds the input and the output of a run. A run that is repeated after a crash adds what is missing: an item whose id
 * the conversation has is left as it is. Items without an id get one, so items that may be added twice need theirs
 * before. Items that only steer a request are not stored: references (the caller passes the items they stand for) and
 * triggers. Rejects with `not_found` when the conversation is gone.
 */
export async function appendItems(
  parts: ShelfParts,
  tenant: string,
  conversationId: string,
  items: readonly Item[],
): Promise<void> {
  await getConversation(parts, tenant, conversationId);
  const kept = items.filter(({ type }) => !NOT_KEPT.has(type));
  const named = kept.map((item) => nameNewItem(parts, item));
  const name = nameConversation(tenant, conversationId);
  const added = await putItems(parts, name, named);
  if (added === undefined) throw toUnknownConversation(conversationId);
}

/** The items for a model, oldest first, and the position of the last one. */
export interface KeptItems {
  readonly items: readonly Item[];
  /**
   * The position of the last item; 0 for none. Passed as `upToPosition`, it gives the same items again.
   */
  readonly position: number;
}

export async function readItems(
  { shelf }: Pick<ShelfParts, "shelf">,
  tenant: string,
  conversationId: string,
  upToPosition = Number.POSITIVE_INFINITY,
): Promise<KeptItems> {
  await getConversation({ shelf }, tenant, conversationId);
  const among = { tenant, kind: ITEM_KIND, parent: conversationId, order: "oldest" as const };
  const items: Item[] = [];
  let last: Thing | undefined;
  let size = 0;
  for (let limit = READ_FIRST; ; limit = Math.min(2 * limit, READ_ITEMS)) {
    const page = await shelf.list({ ...among, limit, after: last?.id });
    // The item before the page was deleted meanwhile, so the rest of the list is not known.
    if (page.length === 0 && last && !(await shelf.get(last))) {
      return readItems({ shelf }, tenant, conversationId, upToPosition);
    }
    const wanted = page.filter(({ position }) => position <= upToPosition);
    const read = wanted.map((thing) => toKeptItem(thing).item);
    items.push(...read);
    size += countJsonChars(read);
    if (size > MAX_CONTEXT_CHARS) throw toTooLong("conversation");
    last = wanted.at(-1) ?? last;
    if (wanted.length < limit) return { items, position: last?.position ?? 0 };
  }
}

function show(thing: Thing, include: ReadonlySet<string>): ShownItem {
  const { id, item } = toKeptItem(thing);
  return toShownItem(item, id, include);
}

/**
 * Sessions of agent SDKs list a conversation without `include` and send the items as the next input. Without its
 * image a part would be empty, so images are always shown.
 */
function toShown(query: URLSearchParams): ReadonlySet<string> {
  return new Set([...parseInclude(query), "message.input_image.image_url"]);
}

function toUnknownItem(conversationId: string, itemId: string): Failure {
  const message = `There is no item \`${clip(itemId, 80)}\` in the conversation \`${conversationId}\`.`;
  return new Failure("not_found", message, { param: "item_id" });
}
