/**
 * A conversation of items as functions, no call without a result: models refuse one. A call that nobody
 * has answered, such as one that waits for an approval that never came, is answered with that. What the
 * client itself was asked and has not answered is its own mistake, and refused as such.
 */

import type { Item } from "../../protocol/items.ts";

/** `toFunctions` gives undefined for an item that is sent as it is. Results may stand where they came. */
export function answerCalls(
  items: readonly Item[],
  toFunctions: (item: Item) => readonly Item[] | undefined,
): Item[] {
  const made = new Set<Item>();
  const all = items.flatMap((item) => {
    const functions = toFunctions(item);
    for (const one of functions ?? []) made.add(one);
    return functions ? [...functions] : [item];
  });
  const answered = new Set(
    all.flatMap((item) => (item.type === "function_call_output" ? [item.call_id] : [])),
  );
  return all.flatMap((item) => {
    if (item.type !== "function_call" || !made.has(item) || answered.has(item.call_id)) {
      return [item];
    }
    return [item, toNoAnswer(item.call_id)];
  });
}

function toNoAnswer(call_id: string): Item {
  return { type: "function_call_output", call_id, output: "Error: Nobody has answered this call." };
}
