/** Replaces the `item_reference`s of a request by their items. */

import { Failure } from "../../base/failure.ts";
import { countJsonChars } from "../../base/json-size.ts";
import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import { MAX_CONTEXT_CHARS } from "../request/context-size.ts";
import type { FindItem } from "./item-index.ts";

/**
 * Rejects a reference to an unknown item, by its place: `input[2].id`. A few bytes may stand for a large item, many
 * times, so the total size is limited.
 */
export async function resolveReferences(
  items: readonly Item[],
  tenant: string,
  findItem: FindItem,
): Promise<Item[]> {
  const resolved: Item[] = [];
  const sizes = new Map<string, number>();
  let size = 0;
  for (const [at, item] of items.entries()) {
    if (item.type !== "item_reference") {
      resolved.push(item);
      continue;
    }
    const found = await findItem(tenant, item.id);
    if (!found) {
      const message = `There is no item \`${clip(item.id, 80)}\`. Items of responses with \`store: false\` must be given whole.`;
      throw new Failure("invalid_request", message, { param: `input[${at}].id` });
    }
    const own = sizes.get(item.id) ?? countJsonChars(found);
    sizes.set(item.id, own);
    size += own;
    if (size > MAX_CONTEXT_CHARS) {
      const message = `The items that the input refers to have more than ${MAX_CONTEXT_CHARS} characters together.`;
      throw new Failure("invalid_request", message, { param: `input[${at}].id` });
    }
    resolved.push({ ...found, id: item.id } as Item);
  }
  return resolved;
}

/**
 * A client that continues a response may repeat items of it: the last occurrence of each counts.
 */
export function withoutRepeated(before: readonly Item[], items: readonly Item[]): readonly Item[] {
  const given = new Set(items.flatMap((item) => ("id" in item && item.id ? [item.id] : [])));
  if (given.size === 0) return before;
  return before.filter((item) => !("id" in item && item.id && given.has(item.id)));
}
