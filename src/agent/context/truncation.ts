/**
 * `truncation: auto`: leaves out the oldest items until the conversation fits. Instructions and the last thing that
 * the user said always stay.
 */

import type { Item } from "../../protocol/items.ts";
import { findCutPoints } from "./cut-points.ts";
import { estimateItem } from "./token-estimate.ts";

export interface TokenRoom {
  /** How many tokens the items may take. */
  readonly maxTokens: number;
  /** True for an item that stays although it is old. */
  readonly stays?: ((item: Item) => boolean) | undefined;
}

/** Leaves out as few items as possible. What cannot be made to fit is sent, and the vendor decides. */
export function truncate(items: readonly Item[], { maxTokens, stays }: TokenRoom): readonly Item[] {
  const lastUser = items.findLastIndex(isUserMessage);
  const isKept = (item: Item, at: number): boolean =>
    at === lastUser || isInstruction(item) || (stays?.(item) ?? false);
  const costs = items.map(estimateItem);
  let total = costs.reduce((sum, cost) => sum + cost, 0);
  if (total <= maxTokens) return items;
  // Some vendors reject a conversation that begins with an answer.
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
