/**
 * Gives every call in a conversation of function items a result: models refuse a call without one. A call that was
 * never answered, such as one that waited for an approval, gets a result that says so. A call that the client had to
 * answer and did not is the client's mistake, and is refused.
 */

import type { Item } from "../../protocol/items.ts";

/**
 * `toFunctions` returns undefined for an item that is sent as it is. Results may stand where they came.
 */
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
  return { type: "function_call_output", call_id, output: "Error: This call was not answered." };
}
