/**
 * The events of calls that a server makes and shows as items: which events each type of item has, and when. The order
 * is that of recorded streams: the call begins, the model writes its arguments, it runs, it is done.
 */

import type { Json, JsonObject } from "../../base/json.ts";
import type { Progress, Writing } from "../../protocol/hosted-kinds/hosted-kind.ts";
import { ITEM_FACTS, tableOf } from "../../protocol/item-facts.ts";
import type { Item } from "../../protocol/items.ts";

export const CALL_EVENTS: Readonly<Record<string, Progress>> = tableOf(({ progress }) => progress);

/** The names for the text that the model writes into a call that this server shows, by the type of its item. */
export const WRITINGS: Readonly<Record<string, Writing>> = tableOf(({ writes }) =>
  writes?.isVendors ? undefined : writes,
);

/** True if a finished call says that it failed. */
export function isFailedCall(item: Item): boolean {
  if ("status" in item && item.status === "failed") return true;
  return "error" in item && item.error !== null && item.error !== undefined;
}

/** The field that the event of a finished call adds: for a picture, the whole picture. */
export function resultOf(item: Item | undefined): JsonObject {
  const field = item && ITEM_FACTS.get(item.type)?.doneWith;
  if (field === undefined) return {};
  const value = Reflect.get(item ?? {}, field) as Json | undefined;
  return value ? { [field]: value } : {};
}

/** Sent when the model has written a call: the commands of a shell. */
export function toCallEvents(item: Item): JsonObject[] {
  return ITEM_FACTS.get(item.type)?.afterCall?.(item) ?? [];
}

/** Sent between `added` and `done` of a result: the output of a shell. */
export function toResultEvents(item: Item): JsonObject[] {
  return ITEM_FACTS.get(item.type)?.inResult?.(item) ?? [];
}
