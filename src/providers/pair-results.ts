/**
 * Moves results directly after their calls. The Responses API allows a message between the two; most other
 * APIs refuse such a conversation.
 */

import type { CustomToolCallOutput, FunctionCallOutput, Item } from "../protocol/items.ts";

/** Returns the items themselves if nothing is between a call and its result, which is nearly always so. */
export function pairResults(items: readonly Item[]): readonly Item[] {
  if (!hasGap(items)) return items;
  const results = new Map<string, FunctionCallOutput[]>();
  for (const item of items) {
    if (item.type !== "function_call_output") continue;
    results.set(item.call_id, [...(results.get(item.call_id) ?? []), item]);
  }
  const paired: Item[] = [];
  const waiting: FunctionCallOutput[] = [];
  for (const [at, item] of items.entries()) {
    if (item.type === "function_call_output") continue;
    paired.push(item);
    if (item.type === "function_call") waiting.push(...takeFirst(results, item.call_id));
    // Calls of one turn stay together, and so do their results.
    if (items[at + 1]?.type !== "function_call") paired.push(...waiting.splice(0));
  }
  return [...paired, ...[...results.values()].flat()];
}

/** Some servers count ids from 0 in every answer, so a call gets the first result that is left. */
function takeFirst(
  results: Map<string, FunctionCallOutput[]>,
  callId: string,
): FunctionCallOutput[] {
  const [first, ...others] = results.get(callId) ?? [];
  results.set(callId, others);
  return first ? [first] : [];
}

function hasGap(items: readonly Item[]): boolean {
  let calls = 0;
  let isBroken = false;
  for (const { type } of items) {
    if (type === "function_call") calls++;
    else if (type === "function_call_output") {
      if (isBroken && calls > 0) return true;
      calls--;
    } else if (type !== "reasoning" && calls > 0) isBroken = true;
    if (calls <= 0) isBroken = false;
  }
  return false;
}

/** The result of a function call, or of a call to a tool that takes free text. */
export type CallOutput = FunctionCallOutput | CustomToolCallOutput;

/** The results by the ids of their calls, in their order: several if a server repeats an id. */
export function outputsByCall(items: readonly Item[]): Map<string, CallOutput[]> {
  const outputs = new Map<string, CallOutput[]>();
  for (const item of items) {
    if (item.type !== "function_call_output" && item.type !== "custom_tool_call_output") continue;
    const given = outputs.get(item.call_id);
    if (given) given.push(item);
    else outputs.set(item.call_id, [item]);
  }
  return outputs;
}
