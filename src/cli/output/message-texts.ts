import type { Item } from "../../protocol/items.ts";

/** The texts of a person's messages. */
export function textsOf(items: readonly Item[]): string[] {
  return items.flatMap((item) => {
    if (item.type !== "message") return [];
    if (typeof item.content === "string") return [item.content];
    return item.content.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
  });
}
