import { makeId } from "../../base/ids.ts";
import type { Item } from "../../protocol/items.ts";
import { idPrefixOf, toInputId } from "./emitted-item.ts";

/**
 * Keeps an id that a client gives. An item without one gets one, so that it can be listed and referred to.
 */
export function withId(item: Item): Item {
  return hasId(item) ? item : ({ ...item, id: makeId(idPrefixOf(item.type)) } as Item);
}

/** The same for the input of a run. An id that names the run says where its item is, so the index needs no entry. */
export function withInputIds(items: readonly Item[], runId: string): Item[] {
  return items.map((item, at) =>
    hasId(item) ? item : ({ ...item, id: toInputId(item.type, runId, at) } as Item),
  );
}

function hasId(item: Item): boolean {
  return "id" in item && typeof item.id === "string" && item.id !== "";
}
