/**
 * Keeps a conversation within a model's window (`truncation`), or a client's wish
 * (`context_management`), and shows the model what compactions hold.
 */

import type { Compacted, ContextKeeper } from "../../agent/loop.ts";
import { toFailure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import { type Compactor, isVain } from "../compaction/compactor.ts";
import { type Expanding, expandCompactions } from "../compaction/expand-compactions.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import { estimateTokens } from "./token-estimate.ts";
import { truncate } from "./truncation.ts";

export interface KeeperParts {
  readonly wish: Pick<ResponseWish, "truncation" | "compact_threshold">;
  readonly expanding: Expanding;
  readonly compactor: Compactor;
  /** The model's window; undefined where it is not known, and nothing can be cut to it. */
  readonly contextTokens: number | undefined;
  readonly maxOutputTokens: number | null;
  readonly instructions: string | null;
  readonly tools: readonly Tool[];
}

export function createContextKeeper(parts: KeeperParts): ContextKeeper {
  const { wish, expanding, compactor } = parts;
  const maxTokens = wish.truncation === "auto" ? toRoom(parts) : undefined;
  return {
    fit(items) {
      const expanded = expandCompactions(items, expanding);
      if (maxTokens === undefined) return expanded.items;
      return truncate(expanded.items, { maxTokens, stays: (item) => item === expanded.summary });
    },
    async compact(items, usage, turn) {
      const threshold = wish.compact_threshold;
      if (threshold === null || usage.total_tokens < threshold) return undefined;
      return await compactOrLeave(compactor, items, turn);
    },
  };
}

/** What an answer is given at least, where the request does not say. */
const ANSWER_SHARE = 0.1;

function toRoom(parts: KeeperParts): number | undefined {
  const { contextTokens, maxOutputTokens, instructions, tools } = parts;
  if (contextTokens === undefined) return undefined;
  const answer = Math.max(maxOutputTokens ?? 0, contextTokens * ANSWER_SHARE);
  const fixed = estimateTokens({ items: [], instructions: instructions ?? "", tools });
  return contextTokens - Math.min(answer, contextTokens / 2) - fixed;
}

/** The answer is there already: a summary that cannot be had must not take it away. */
async function compactOrLeave(
  compactor: Compactor,
  items: readonly Item[],
  turn: number,
): Promise<Compacted | undefined> {
  try {
    const { item, answer } = await compactor.compact(items, turn);
    return { items: [item], answer };
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (isVain(failure.code)) return undefined;
    throw failure;
  }
}
