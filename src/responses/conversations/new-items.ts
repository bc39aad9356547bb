/** New items of a conversation: checked, given ids, and stored one by one in their order. */

import { Failure } from "../../base/failure.ts";
import { isSameJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { type Item, toItems } from "../../protocol/items.ts";
import { STORED_ITEM } from "../../protocol/stored-items.ts";
import type { NewThing, Thing, ThingName } from "../../store/shelf.ts";
import { idPrefixOf } from "../fold/emitted-item.ts";
import { sealItems, unsealItem } from "../request/seal-tools.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";

/** The most items of one request; the API's own limit. */
const MAX_NEW_ITEMS = 20;

export const ITEM_KIND = "conversation_item";

/** Items that steer one request and are not part of the conversation. */
export const NOT_KEPT: ReadonlySet<string> = new Set(["item_reference", "compaction_trigger"]);

export interface ItemParts extends ShelfParts {
  /** The key that seals secrets in items. */
  readonly sealKey: Uint8Array;
  /** Finds the item of an `item_reference`, wherever the tenant has it. */
  readonly findItem?: ((tenant: string, id: string) => Promise<Item | undefined>) | undefined;
}

/** An item with the id under which it is stored. */
export interface NamedItem {
  readonly id: string;
  readonly item: Item;
}

/** Rejects what is not an item, by its place: `param` is `items[2].call_id`. */
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

/** `toItems` names the `input` of a request. */
function toItemsFailure(thrown: unknown): unknown {
  if (!(thrown instanceof Failure) || thrown.param === undefined) return thrown;
  const message = thrown.message.replace(/^`input\b/, "`items");
  const param = thrown.param.replace(/^input\b/, "items");
  return new Failure(thrown.code, message, { param, cause: thrown });
}

/**
 * Gives each item its id and resolves references, so that all are valid before the first is stored.
 */
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

/** Keeps an id that the item came with. */
export function nameNewItem({ makeId }: Pick<ShelfParts, "makeId">, item: Item): NamedItem {
  const own = "id" in item && typeof item.id === "string" ? item.id : "";
  const id = own || makeId(idPrefixOf(item.type));
  return { id, item: { ...item, id } as Item };
}

/**
 * Adds the items that the conversation does not have yet: a client or a run that repeats itself adds nothing. Returns
 * how many it added; undefined, and adds nothing, if the conversation was deleted meanwhile.
 */
export async function putItems(
  { shelf, clock }: ShelfParts,
  conversation: ThingName,
  items: readonly NamedItem[],
): Promise<number | undefined> {
  const things = toItemThings(conversation, items, clock.now());
  return await shelf.putUnder(conversation, things);
}

/** The items as things of the shelf. */
export function toItemThings(
  conversation: ThingName,
  items: readonly NamedItem[],
  created_at_ms: number,
): NewThing[] {
  const rest = { created_at_ms, expires_at_ms: null, parent: conversation.id };
  return items.map(({ id, item }) => {
    return { ...nameItem(conversation, id), ...rest, body: STORED_ITEM.write(item) };
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
    if (!kept || isSame(STORED_ITEM.read(kept.body), item, sealKey)) continue;
    throw invalid(index, `The conversation has another item with the id \`${clip(id, 80)}\`.`);
  }
}

/** Sealed text differs each time it is sealed. */
function isSame(kept: Item, item: Item, key: Uint8Array): boolean {
  return isSameJson(unsealItem(kept, key), unsealItem(item, key));
}

/** An id of a conversation is ours and has no slash, so the two cannot be confused. */
export function nameItem({ tenant, id }: ThingName, itemId: string): ThingName {
  return { tenant, kind: ITEM_KIND, id: `${id}/${itemId}` };
}

export function toKeptItem({ id, parent, body }: Thing): NamedItem {
  return { id: id.slice((parent ?? "").length + 1), item: STORED_ITEM.read(body) };
}

function invalid(index: number, message: string): Failure {
  return new Failure("invalid_request", message, { param: `${toParam(index)}.id` });
}

function toParam(index: number): string {
  return `items[${index}]`;
}
