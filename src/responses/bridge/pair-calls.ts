/**
 * A conversation of items as functions, each call followed by its result: models refuse a call
 * without one, and some refuse anything in between. A call that nobody has answered, such as one
 * that waits for an approval that never came, is answered with that.
 */

import type { FunctionCallOutput, Item } from "../../protocol/items.ts";

/** `toFunctions` gives undefined for an item that is sent as it is. */
export function pairCalls(
  items: readonly Item[],
  toFunctions: (item: Item) => readonly Item[] | undefined,
): Item[] {
  const made = new Set<Item>();
  const all = items.flatMap((item) => {
    const functions = toFunctions(item);
    for (const one of functions ?? []) made.add(one);
    return functions ? [...functions] : [item];
  });
  const open = findApart(all, made);
  if (open.size === 0) return all;
  const moved = new Set([...open.values()].filter((item) => item !== undefined));
  return all.flatMap((item) => {
    if (moved.has(item)) return [];
    if (!open.has(item) || item.type !== "function_call") return [item];
    return [item, open.get(item) ?? toNoAnswer(item.call_id)];
  });
}

/**
 * The calls whose result does not follow them, with the one they have; of those without any, the ones
 * that were made of other items. Calls of one turn may stand together, with their results behind them.
 */
function findApart(all: readonly Item[], made: ReadonlySet<Item>): Map<Item, Item | undefined> {
  const apart = new Map<Item, Item | undefined>();
  const waiting = new Map<string, Item>();
  const giveUp = (): void => {
    for (const call of waiting.values()) apart.set(call, undefined);
    waiting.clear();
  };
  const answer = (output: FunctionCallOutput): void => {
    if (waiting.delete(output.call_id)) return;
    const late = findLate(apart, output.call_id);
    if (late) apart.set(late, output);
  };
  for (const item of all) {
    if (item.type === "function_call_output") answer(item);
    else if (item.type !== "function_call") giveUp();
    else waiting.set(item.call_id, item);
  }
  giveUp();
  // What the client was asked and has not answered is its own mistake, and refused as such.
  const isOpen = ([call, output]: readonly [Item, Item | undefined]): boolean =>
    output !== undefined || made.has(call);
  return new Map([...apart].filter(isOpen));
}

function findLate(apart: ReadonlyMap<Item, Item | undefined>, callId: string): Item | undefined {
  for (const [call, output] of apart) {
    if (!output && call.type === "function_call" && call.call_id === callId) return call;
  }
  return undefined;
}

function toNoAnswer(call_id: string): Item {
  return { type: "function_call_output", call_id, output: "Error: Nobody has answered this call." };
}
