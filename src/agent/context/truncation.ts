/**
 * `truncation: auto`: the oldest items go until the conversation fits. What a person or the developer
 * has said for good stays: instructions, and the last thing that the user said.
 */

import type { Item } from "../../protocol/items.ts";
import { findCutPoints } from "./cut-points.ts";
import { estimateItem } from "./token-estimate.ts";

export interface Room {
  /** What the items may take. */
  readonly maxTokens: number;
  /** Whether an item stays although it is old. */
  readonly stays?: ((item: Item) => boolean) | undefined;
}

/** As few as possible are left out. What cannot be made to fit is left for the vendor to judge. */
export function truncate(items: readonly Item[], { maxTokens, stays }: Room): readonly Item[] {
  const lastUser = items.findLastIndex(isUserMessage);
  const isKept = (item: Item, at: number): boolean =>
    at === lastUser || isInstruction(item) || (stays?.(item) ?? false);
  const costs = items.map(estimateItem);
  let total = costs.reduce((sum, cost) => sum + cost, 0);
  if (total <= maxTokens) return items;
  // Some vendors take no conversation that begins with an answer.
  const points = findCutPoints(items).filter(
    (point) => point < items.length && (point > lastUser || isUserMessage(items[point])),
  );
  let cut = 0;
  for (const point of points) {
    if (total <= maxTokens) break;
    for (let at = cut; at < point; at++) {
      const item = items[at];
      if (item && !isKept(item, at)) total -= costs[at] ?? 0;
    }
    cut = point;
  }
  return items.filter((item, at) => at >= cut || isKept(item, at));
}

export function isUserMessage(item: Item | undefined): boolean {
  return item?.type === "message" && item.role === "user";
}

export function isInstruction(item: Item): boolean {
  return item.type === "message" && (item.role === "system" || item.role === "developer");
}
