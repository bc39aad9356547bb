/** The memory of a Responses server between requests: answers under their ids, items under theirs. */

import type { Item } from "../../protocol/items.ts";
import { ONE_ACCOUNT } from "./reasoning-seal.ts";

export interface ResponseMemory {
  /** The account of the server: what is sealed for one account is invalid for another. */
  readonly account: string;
  /** The whole conversation up to and including an answer. */
  find(responseId: string): readonly Item[] | undefined;
  findItem(itemId: string): Item | undefined;
  /** The id of the reasoning that led to an item and has to come before it. */
  reasoningBefore(itemId: string): string | undefined;
  keep(responseId: string, input: readonly Item[], output: readonly Item[]): void;
}

export function createResponseMemory(account = ONE_ACCOUNT): ResponseMemory {
  const conversations = new Map<string, readonly Item[]>();
  const items = new Map<string, Item>();
  const reasons = new Map<string, string>();
  return {
    account,
    find: (responseId) => conversations.get(responseId),
    findItem: (itemId) => items.get(itemId),
    reasoningBefore: (itemId) => reasons.get(itemId),
    keep(responseId, input, output) {
      conversations.set(responseId, [...input, ...output]);
      for (const [index, item] of output.entries()) {
        const id = idOf(item);
        if (id === undefined) continue;
        items.set(id, item);
        const before = output[index - 1];
        const reason = before?.type === "reasoning" ? idOf(before) : undefined;
        if (reason !== undefined) reasons.set(id, reason);
      }
    },
  };
}

export function idOf(item: Item): string | undefined {
  return "id" in item && typeof item.id === "string" ? item.id : undefined;
}
