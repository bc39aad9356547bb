/**
 * Lists the input of a response: the chain that it continues and the request's own items, each with an id. The items
 * of a conversation are listed by the conversation.
 *
 * The real service lists the chain too, with its answers. With the newest first, a client that wants the request's
 * own items finds them at the beginning.
 */

import { Failure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import { type BeforeParts, readBefore } from "../conversations/conversation-before.ts";
import { type ShownItem, toShownItem } from "../conversations/shown-item.ts";
import { findKept, readInput } from "../kept/kept-response.ts";
import {
  type ListPage,
  type Paging,
  parseInclude,
  parsePaging,
  toWholePage,
} from "../tenant/paging.ts";

export interface ItemsQuery {
  readonly tenant: string;
  readonly id: string;
  /** The query of the address: `limit`, `order`, `after`, `before`, `include`. */
  readonly query: URLSearchParams;
}

/** Undefined if the response does not exist. */
export async function listInputItems(
  parts: BeforeParts,
  { tenant, id, query }: ItemsQuery,
): Promise<ListPage<ShownItem> | undefined> {
  const kept = await findKept(parts.shelf, tenant, id);
  if (!kept) return undefined;
  const paging = parsePaging(query, { defaultOrder: "desc" });
  const { previous_response_id } = kept;
  const before = await readChain(parts, tenant, previous_response_id);
  const input = await readInput(parts.place, id, kept);
  if (!input) return undefined;
  const items = [...before, ...input];
  const include = parseInclude(query);
  return toItemsPage(paging.order === "asc" ? items : items.reverse(), paging, include);
}

/** A response that was deleted since is missing; the rest can still be listed. */
async function readChain(
  parts: BeforeParts,
  tenant: string,
  previous_response_id: string | null,
): Promise<readonly Item[]> {
  try {
    return await readBefore(parts, { tenant, previous_response_id, conversation: null });
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === "previous_response_not_found") return [];
    throw thrown;
  }
}

/** `items` in the requested order. An unknown id gives an empty page, as in every list. */
function toItemsPage(
  items: readonly Item[],
  { limit, after, before }: Paging,
  include: ReadonlySet<string>,
): ListPage<ShownItem> {
  const at = (id: string): number => items.findIndex((item) => idOf(item) === id);
  const from = after === undefined ? 0 : at(after) + 1;
  const to = before === undefined ? items.length : at(before);
  const isKnown = (after === undefined || from > 0) && to >= 0;
  const wanted = isKnown ? items.slice(from, to) : [];
  const isBackwards = before !== undefined && after === undefined;
  const page = isBackwards ? wanted.slice(-limit) : wanted.slice(0, limit);
  const shown = page.map((item) => toShownItem(item, idOf(item), include));
  return toWholePage(shown, wanted.length > page.length);
}

function idOf(item: Item): string {
  return "id" in item && typeof item.id === "string" ? item.id : "";
}
