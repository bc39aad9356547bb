/**
 * Finds where a conversation may be cut: never between a call and its result, nor between reasoning and what followed
 * from it.
 */

import type { Item } from "../../protocol/items.ts";

/**
 * Each index at which a conversation can begin, from 0 (nothing is cut) to its length (nothing is left). A call that
 * has no result yet does not tie what follows to it.
 */
export function findCutPoints(items: readonly Item[]): number[] {
  const lastOf = new Map<string, number>();
  for (const [at, item] of items.entries()) {
    const key = toCallKey(item);
    if (key !== undefined) lastOf.set(key, at);
  }
  const points = [0];
  // The last item that belongs to something before the index.
  let reach = -1;
  for (const [at, item] of items.entries()) {
    const key = toCallKey(item);
    const own = item.type === "reasoning" ? at + 1 : at;
    reach = Math.max(reach, own, key === undefined ? at : (lastOf.get(key) ?? at));
    if (reach <= at) points.push(at + 1);
  }
  // Reasoning at the very end belongs to what comes next.
  if (points.at(-1) !== items.length) points.push(items.length);
  return points;
}

/** The id that a call and its result share; undefined for any other item. */
export function toCallKey(item: Item): string | undefined {
  if (item.type === "mcp_approval_request") return item.id ?? undefined;
  if (item.type === "mcp_approval_response") return item.approval_request_id;
  const id = "call_id" in item ? item.call_id : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** The index of the first call without a result, or of the reasoning before it; the length if there is none. */
export function findOpenCall(items: readonly Item[]): number {
  const answered = new Set(items.filter(isResult).flatMap((item) => toCallKey(item) ?? []));
  let at = items.findIndex((item) => {
    const key = toCallKey(item);
    return key !== undefined && !isResult(item) && !answered.has(key);
  });
  if (at < 0) return items.length;
  while (items[at - 1]?.type === "reasoning") at--;
  return at;
}

function isResult({ type }: Item): boolean {
  return type.endsWith("_output") || type === "mcp_approval_response";
}
