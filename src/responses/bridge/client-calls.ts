/**
 * Items after which the client must act, unless this server makes their calls, and the item that answers each.
 */

import { tableOf } from "../../protocol/item-facts.ts";
import type { Item } from "../../protocol/items.ts";

export const ANSWERS: ReadonlyMap<string, string> = new Map(
  Object.entries(tableOf(({ answeredBy }) => answeredBy)),
);

export function isForClient(item: Item): boolean {
  // A vendor that has searched reports its search and expects no answer.
  if (item.type === "tool_search_call" && item.execution === "server") return false;
  return ANSWERS.has(item.type);
}
