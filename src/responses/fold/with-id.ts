import { makeId } from "../../base/ids.ts";
import type { Item } from "../../protocol/items.ts";
import { idPrefixOf } from "./emitted-item.ts";

/** Ids that a client gives are its own; what has none gets one, so that it can be listed and referred to. */
export function withId(item: Item): Item {
  const known = "id" in item && typeof item.id === "string" && item.id !== "";
  return known ? item : ({ ...item, id: makeId(idPrefixOf(item.type)) } as Item);
}
