/**
 * Keeps a conversation within a model's window, for a run, or as a client wishes (`truncation`,
 * `context_management`), and shows the model what compactions hold.
 */

import { toFailure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Compacted, ContextKeeper, KeeperMoment, Used } from "./context-keeper.ts";
import { type Expanding, expandCompactions } from "./expand-compactions.ts";
import { findAsked } from "./keep-words.ts";
import { estimateTokens } from "./token-estimate.ts";
import { truncate } from "./truncation.ts";
import { isVain } from "./vain.ts";

/** Makes a conversation short. How it is kept and told is the compactor's own. */
export interface Compactor {
  /** Undefined where it would get no shorter. Rejects as `Summariser.summarise` does. */
  compact(items: readonly Item[], wish: CompactionWish): Promise<Compacted | undefined>;
}

export interface CompactionWish extends Partial<Pick<KeeperMoment, "task" | "recorded">> {
  /** Unique in the run. */
  readonly place: string;
  /** Those of the items that the model is still to answer; they stay as they are. */
  readonly asked?: readonly Item[] | undefined;
  /** How many tokens the conversation takes, with everything that is sent along. */
  readonly tokens: number;
  /** The turn that follows. */
  readonly turn: number;
  /** Whether the vendor has refused it: its window is smaller than was known. */
  readonly isRefused: boolean;
}

/** When a conversation is compacted. */
interface KeeperWish {
  readonly truncation: "auto" | "disabled";
  /** From how many tokens on; null for never. */
  readonly compact_threshold: number | null;
}

export interface KeeperParts {
  readonly wish: KeeperWish;
  /**
   * `client`: behind each turn, also the last, because the client goes on with it. `run`: only where a turn
   * follows, or where one was refused as too long.
   */
  readonly keepsFor: "client" | "run";
  readonly expanding: Expanding;
  readonly compactor: Compactor;
  /** The model's window; undefined where it is not known: `cut-to-fit.ts` finds it out then. */
  readonly contextTokens: number | undefined;
  readonly max_output_tokens: number | null;
  readonly instructions: string | null;
  readonly tools: readonly Tool[];
}

export function createContextKeeper(parts: KeeperParts): ContextKeeper {
  const { wish, expanding } = parts;
  const maxTokens = wish.truncation === "auto" ? toRoom(parts) : undefined;
  const attempts = { inVain: 0, most: parts.keepsFor === "run" ? MAX_IN_VAIN : Infinity };
  return {
    shortensRefused: parts.keepsFor === "run",
    fit(items) {
      const expanded = expandCompactions(items, expanding);
      if (maxTokens === undefined) return expanded.items;
      return truncate(expanded.items, { maxTokens, stays: (item) => item === expanded.summary });
    },
    async compact(items, used, moment) {
      if ((moment.when === "behind") !== (parts.keepsFor === "client")) return undefined;
      const tokens = sizeOf(parts, items, used);
      const found = findWish(parts, items, { ...moment, used, tokens });
      return found && (await compactOrLeave(parts.compactor, items, found, attempts));
    },
  };
}

interface Found extends KeeperMoment {
  readonly used: Used;
  readonly tokens: number;
}

function findWish(
  { wish, keepsFor }: KeeperParts,
  items: readonly Item[],
  { when, turn, task, recorded, used, tokens }: Found,
): CompactionWish | undefined {
  const threshold = wish.compact_threshold ?? Number.POSITIVE_INFINITY;
  const isRefused = when === "refused";
  if (tokens < threshold && !isRefused && !recorded) return undefined;
  const place = isRefused ? `${turn}:again` : String(turn);
  const about = { place, task, recorded, tokens, turn: turn + 1, isRefused };
  if (keepsFor === "run") return about;
  // Before the first turn the end of it is a question, which must not be lost in a summary.
  const asked = turn === 0 ? findAsked(items, threshold * ASKED_SHARE) : [];
  if (isUnknown(used) && !isWorthwhile(items, asked, threshold)) return undefined;
  return { ...about, asked };
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
  const { contextTokens, max_output_tokens, instructions, tools } = parts;
  if (contextTokens === undefined) return undefined;
  const answer = Math.max(max_output_tokens ?? 0, contextTokens * ANSWER_SHARE);
  const fixed = estimateTokens({ items: [], instructions: instructions ?? "", tools });
  return contextTokens - Math.min(answer, contextTokens / 2) - fixed;
}

/** How often in a row a run tries: each attempt may cost something. */
const MAX_IN_VAIN = 3;

interface Attempts {
  inVain: number;
  readonly most: number;
}

/** A summary that cannot be had takes no answer away, neither one that is there nor the next. */
async function compactOrLeave(
  compactor: Compactor,
  items: readonly Item[],
  wish: CompactionWish,
  attempts: Attempts,
): Promise<Compacted | undefined> {
  if (attempts.inVain >= attempts.most) return undefined;
  try {
    const compacted = await compactor.compact(items, wish);
    attempts.inVain = 0;
    return compacted;
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (!isVain(failure.code)) throw failure;
    attempts.inVain++;
    return undefined;
  }
}
