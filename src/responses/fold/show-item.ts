/** Removes the fields of an item that the client did not ask for (`include`). */

import { isJsonObject, type Json } from "../../base/json.ts";
import { ITEM_FACTS } from "../../protocol/item-facts.ts";
import type { Item } from "../../protocol/items.ts";

/** Shows all fields if `include` is undefined. */
export function showItem(item: Item, include: ReadonlySet<string> | undefined): Item {
  if (!include) return item;
  switch (item.type) {
    case "reasoning":
      return include.has(SEAL) ? item : without(item, "encrypted_content");
    case "message":
      return showMessage(item, include);
    default:
      return showHosted(item, include);
  }
}

/**
 * A model's thoughts as their summary, if a client asked for one and the model has none: clients that know only one
 * vendor's API look nowhere else.
 */
export function toSummarised(item: Item): Item {
  if (item.type !== "reasoning" || item.summary.length > 0 || !item.content?.length) return item;
  const summary = item.content.map(({ text }) => ({ type: "summary_text" as const, text }));
  return { ...item, summary, content: [] };
}

/** The value of `include` that asks for sealed thoughts. */
export const SEAL = "reasoning.encrypted_content";

/**
 * True if a client wants thoughts that it can send back: then an unknown server is asked for them too.
 */
export function asksForSeal(include: readonly string[] | null | undefined): boolean {
  return include?.includes(SEAL) ?? false;
}

/** The value of `include` that asks for the probabilities of tokens. */
export const LIKELY = "message.output_text.logprobs";

/** Not every vendor seals the thoughts of its models; a client that asked for it gets a notice. */
export function lacksSeal(item: Item): boolean {
  return item.type === "reasoning" && !item.encrypted_content;
}

type Of<Type extends Item["type"]> = Extract<Item, { type: Type }>;

/** An item of a hosted tool, as the facts of its kind say. */
function showHosted(item: Item, include: ReadonlySet<string>): Item {
  const facts = ITEM_FACTS.get(item.type);
  if (!facts) return item;
  let shown = facts.show?.(item) ?? item;
  for (const [path, hiding] of Object.entries(facts.optional)) {
    if (hiding === "shown" || include.has(`${item.type}.${path}`)) continue;
    shown = hide(shown, path.split("."), hiding);
  }
  return shown as Item;
}

/** A copy in which the field at the end of the path is null, or missing. */
function hide<Value extends object>(
  value: Value,
  path: readonly string[],
  hiding: "null" | "left out",
): Value {
  const [field = "", ...inner] = path;
  if (inner.length === 0) {
    if (hiding === "null") return { ...value, [field]: null };
    return without(value, field as keyof Value) as Value;
  }
  const below = Reflect.get(value, field) as Json | undefined;
  return isJsonObject(below) ? { ...value, [field]: hide(below, inner, hiding) } : value;
}

/** Images of a user, and the probabilities of a model's tokens. */
function showMessage(item: Of<"message">, include: ReadonlySet<string>): Item {
  const { content } = item;
  if (typeof content === "string") return item;
  const hidesImages = !include.has("message.input_image.image_url");
  const hidesLogprobs = !include.has(LIKELY);
  const isPlain = content.every((part) => part.type === "output_text" && !part.logprobs?.length);
  if (isPlain) return item;
  return {
    ...item,
    content: content.map((part) => {
      if (part.type === "input_image" && hidesImages) return { ...part, image_url: null };
      return part.type === "output_text" && hidesLogprobs ? { ...part, logprobs: [] } : part;
    }),
  };
}

function without<Value extends object, Key extends keyof Value>(
  value: Value,
  key: Key,
): Omit<Value, Key> & { [K in Key]: never } {
  const { [key]: _, ...rest } = value;
  return rest as Omit<Value, Key> & { [K in Key]: never };
}
