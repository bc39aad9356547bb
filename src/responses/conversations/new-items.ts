/** Items on their way into a conversation: checked, given ids, put one by one in their order. */

import { Failure } from "../../base/failure.ts";
import { isSameJson, type Json } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { type Item, toItems } from "../../protocol/items.ts";
import type { NewThing, Thing, ThingName } from "../../store/shelf.ts";
import { idPrefixOf } from "../fold/emitted-item.ts";
import { sealItems, unsealItem } from "../request/seal-tools.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";

/** What one request may add; the API's own limit. */
const MAX_NEW_ITEMS = 20;

export const ITEM_KIND = "conversation_item";

/** What steers one request and is no part of what was said. */
export const NOT_KEPT: ReadonlySet<string> = new Set(["item_reference", "compaction_trigger"]);

export interface ItemParts extends ShelfParts {
  /** What secrets in items are sealed with. */
  readonly sealKey: Uint8Array;
  /** Finds what an `item_reference` stands for, wherever the tenant has it. */
  readonly findItem?: ((tenant: string, id: string) => Promise<Item | undefined>) | undefined;
}

/** An item with the id it is kept under. */
export interface NamedItem {
  readonly id: string;
  readonly item: Item;
}

/** Rejects what is no item by its place: `param` is `items[2].call_id`. */
export function parseNewItems(values: readonly unknown[]): Item[] {
  if (values.length > MAX_NEW_ITEMS) {
    const message = `\`items\` has ${values.length} items; at most ${MAX_NEW_ITEMS} can be added at once.`;
    throw new Failure("invalid_request", message, { param: "items" });
  }
  try {
    return toItems(values);
  } catch (thrown) {
    throw toItemsFailure(thrown);
  }
}

/** `toItems` speaks of a request's `input`. */
function toItemsFailure(thrown: unknown): unknown {
  if (!(thrown instanceof Failure) || thrown.param === undefined) return thrown;
  const message = thrown.message.replace(/^`input\b/, "`items");
  const param = thrown.param.replace(/^input\b/, "items");
  return new Failure(thrown.code, message, { param, cause: thrown });
}

/** Gives each its id and resolves references, so that all are known to be good before one is put. */
export async function readNewItems(
  parts: ItemParts,
  tenant: string,
  items: readonly Item[],
): Promise<NamedItem[]> {
  const named: NamedItem[] = [];
  const ids = new Set<string>();
  for (const [index, given] of sealItems(items, parts.sealKey).entries()) {
    const next = nameNewItem(parts, await resolve(parts, tenant, { item: given, index }));
    if (ids.has(next.id))
      throw invalid(index, `The id \`${clip(next.id, 80)}\` is given to two items.`);
    ids.add(next.id);
    named.push(next);
  }
  return named;
}

async function resolve(
  { findItem }: ItemParts,
  tenant: string,
  { item, index }: { item: Item; index: number },
): Promise<Item> {
  if (item.type === "compaction_trigger") {
    throw invalid(
      index,
      "A `compaction_trigger` belongs in a response's input; it cannot be kept.",
    );
  }
  if (item.type !== "item_reference") return item;
  const found = await findItem?.(tenant, item.id);
  if (!found)
    throw new Failure("not_found", `There is no item \`${clip(item.id, 80)}\`.`, {
      param: toParam(index),
    });
  return { ...found, id: item.id } as Item;
}

/** Keeps the id that the item came with. */
export function nameNewItem({ makeId }: Pick<ShelfParts, "makeId">, item: Item): NamedItem {
  const own = "id" in item && typeof item.id === "string" ? item.id : "";
  const id = own || makeId(idPrefixOf(item.type));
  return { id, item: { ...item, id } as Item };
}

/**
 * Adds the items that the conversation does not have yet: a client or a run that repeats itself adds
 * nothing. Returns false when the conversation was deleted meanwhile; nothing is left of them then.
 */
export async function putItems(
  { shelf, clock }: ShelfParts,
  conversation: ThingName,
  items: readonly NamedItem[],
): Promise<boolean> {
  await shelf.putAll(toItemThings(conversation, items, clock.now()));
  if (await shelf.get(conversation)) return true;
  for (const { id } of items) await shelf.delete(nameItem(conversation, id));
  return false;
}

/** The items as they are put. */
export function toItemThings(
  conversation: ThingName,
  items: readonly NamedItem[],
  created_at_ms: number,
): NewThing[] {
  const rest = { created_at_ms, expires_at_ms: null, parent: conversation.id };
  return items.map(({ id, item }) => {
    return { ...nameItem(conversation, id), ...rest, body: item as unknown as Json };
  });
}

/** Refuses an id under which the conversation has another item. */
export async function checkNewItems(
  { shelf, sealKey }: ItemParts,
  conversation: ThingName,
  items: readonly NamedItem[],
): Promise<void> {
  for (const [index, { id, item }] of items.entries()) {
    const kept = await shelf.get(nameItem(conversation, id));
    if (!kept || isSame(kept.body as unknown as Item, item, sealKey)) continue;
    throw invalid(index, `The conversation has another item with the id \`${clip(id, 80)}\`.`);
  }
}

/** Whatever is sealed is sealed differently each time. */
function isSame(kept: Item, item: Item, key: Uint8Array): boolean {
  return isSameJson(unsealItem(kept, key), unsealItem(item, key));
}

/** An id of a conversation is ours and has no slash, so that the two cannot be mixed up. */
export function nameItem({ tenant, id }: ThingName, itemId: string): ThingName {
  return { tenant, kind: ITEM_KIND, id: `${id}/${itemId}` };
}

export function toKeptItem({ id, parent, body }: Thing): NamedItem {
  return { id: id.slice((parent ?? "").length + 1), item: body as unknown as Item };
}

function invalid(index: number, message: string): Failure {
  return new Failure("invalid_request", message, { param: `${toParam(index)}.id` });
}

function toParam(index: number): string {
  return `items[${index}]`;
}
