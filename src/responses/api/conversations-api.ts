/**
 * Conversations for routes: the functions over a shelf, which also find the items that references name.
 */

import type { Json } from "../../base/json.ts";
import {
  type Conversation,
  createConversation,
  type DeletedConversation,
  deleteConversation,
  getConversation,
  updateConversation,
} from "../conversations/conversations.ts";
import {
  createItems,
  deleteItem,
  getItem,
  type ItemPlace,
  type ItemsRequest,
  listItems,
  readItems,
} from "../conversations/items.ts";
import { keepRuns } from "../conversations/keep-runs.ts";
import type { ItemParts } from "../conversations/new-items.ts";
import type { ShownItem } from "../conversations/shown-item.ts";
import { createFindItem, type ItemIndexParts, indexItems } from "../references/item-index.ts";
import type { Caller } from "../tenant/caller.ts";
import { type Once, toOnceKey } from "../tenant/idempotency.ts";
import type { ListPage } from "../tenant/paging.ts";

export interface ConversationsApi {
  /**
   * With `once`, returns the conversation that an earlier request with that key made, if there is one.
   */
  create(body: unknown, caller: Caller, once?: Once): Promise<Conversation>;
  get(id: string, caller: Caller): Promise<Conversation>;
  update(id: string, caller: Caller, body: unknown): Promise<Conversation>;
  delete(id: string, caller: Caller): Promise<DeletedConversation>;
  createItems(request: ItemsRequest, caller: Caller, body: unknown): Promise<ListPage<ShownItem>>;
  listItems(request: ItemsRequest, caller: Caller): Promise<ListPage<ShownItem>>;
  getItem(place: ItemPlace, caller: Caller, query: URLSearchParams): Promise<ShownItem>;
  /** Returns the conversation that the item was in. */
  deleteItem(place: ItemPlace, caller: Caller): Promise<Conversation>;
}

type Parts = Omit<ItemParts, "findItem"> & ItemIndexParts;

export function createConversationsApi(parts: Parts): ConversationsApi {
  const toParts = (): ItemParts => ({ ...parts, findItem: createFindItem(parts) });
  /** A session of the command line is a conversation whose runs are first in their logs only. */
  const keep = (tenant: string, id: string): Promise<void> => keepRuns(parts, tenant, id);
  const index = async (tenant: string, id: string): Promise<void> => {
    const { items } = await readItems(parts, tenant, id);
    await indexItems(parts, { tenant, parent: id, kind: "conversation" }, items);
  };
  return {
    async create(body, { tenant }, once) {
      await parts.shelf.checkRoom(tenant, body as Json);
      const key = once && (await toOnceKey(once, tenant, parts.sealKey));
      const made = await createConversation(toParts(), tenant, body, key);
      await index(tenant, made.id);
      return made;
    },
    get: (id, { tenant }) => getConversation(parts, tenant, id),
    update: (id, { tenant }, body) => updateConversation(parts, tenant, id, body),
    delete: (id, { tenant }) => deleteConversation(parts, tenant, id),
    async createItems(request, { tenant }, body) {
      await parts.shelf.checkRoom(tenant, body as Json);
      await keep(tenant, request.conversationId);
      const page = await createItems(toParts(), tenant, request, body);
      const home = { tenant, parent: request.conversationId, kind: "conversation" as const };
      await indexItems(parts, home, page.data);
      return page;
    },
    async listItems(request, { tenant }) {
      await keep(tenant, request.conversationId);
      return await listItems(parts, tenant, request);
    },
    async getItem(place, { tenant }, query) {
      await keep(tenant, place.conversationId);
      return await getItem(parts, tenant, place, query);
    },
    async deleteItem(place, { tenant }) {
      await keep(tenant, place.conversationId);
      return await deleteItem(parts, tenant, place);
    },
  };
}
