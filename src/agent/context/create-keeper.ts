/**
 * Keeps a conversation within a model's window (`truncation`), or a client's wish
 * (`context_management`), and shows the model what compactions hold.
 */

import { toFailure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import { type Compactor, isVain } from "./compactor.ts";
import type { Compacted, ContextKeeper, Used } from "./context-keeper.ts";
import { type Expanding, expandCompactions } from "./expand-compactions.ts";
import { findAsked } from "./keep-words.ts";
import { estimateTokens } from "./token-estimate.ts";
import { truncate } from "./truncation.ts";

/** What a client asks of it, as a request of the Responses API spells it. */
interface KeeperWish {
  readonly truncation: "auto" | "disabled";
  /** From how many tokens on the conversation is compacted; null for never. */
  readonly compact_threshold: number | null;
}

export interface KeeperParts {
  readonly wish: KeeperWish;
  readonly expanding: Expanding;
  readonly compactor: Compactor;
  /** The model's window; undefined where it is not known: `cut-to-fit.ts` finds it out then. */
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
    async compact(items, used, turn) {
      const threshold = wish.compact_threshold;
      if (threshold === null || sizeOf(parts, items, used) < threshold) return undefined;
      // Before the first turn the end of it is a question, which must not be lost in a summary.
      const asked = turn === 0 ? findAsked(items, threshold * ASKED_SHARE) : [];
      if (isUnknown(used) && !isWorthwhile(items, asked, threshold)) return undefined;
      return await compactOrLeave(compactor, items, { turn, asked });
    },
  };
}

/** How much of the threshold may be taken by what the model is to answer. */
const ASKED_SHARE = 0.5;
/** Less than this share of the threshold is not made short: what is too long is something else. */
const LEAST_SHARE = 0.25;

/** The vendor's own count of a turn and what came since, or an estimate of it all. */
function sizeOf(parts: KeeperParts, items: readonly Item[], { usage, since }: Used): number {
  if (usage.total_tokens > 0) return usage.total_tokens + estimateTokens({ items: since });
  const { items: sent } = expandCompactions(items, parts.expanding);
  return estimateTokens({
    items: sent,
    instructions: parts.instructions ?? "",
    tools: parts.tools,
  });
}

function isUnknown({ usage }: Used): boolean {
  return usage.total_tokens === 0;
}

function isWorthwhile(items: readonly Item[], asked: readonly Item[], threshold: number): boolean {
  const stays = new Set(asked);
  const rest = items.filter((item) => !stays.has(item) && item.type !== "compaction");
  return estimateTokens({ items: rest }) >= threshold * LEAST_SHARE;
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

interface Place {
  readonly turn: number;
  readonly asked: readonly Item[];
}

/** A summary that cannot be had takes no answer away, neither one that is there nor the next. */
async function compactOrLeave(
  compactor: Compactor,
  items: readonly Item[],
  { turn, asked }: Place,
): Promise<Compacted | undefined> {
  try {
    const { item, answer } = await compactor.compact(items, turn, asked);
    return { items: [item], answer };
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (isVain(failure.code)) return undefined;
    throw failure;
  }
}
