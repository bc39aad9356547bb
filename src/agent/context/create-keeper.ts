/**
 * Keeps a conversation within a model's window, for a run or as a client asks (`truncation`, `context_management`),
 * and shows the model what compactions hold.
 */

import { toFailure } from "../../base/failure.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Compacted, ContextKeeper, KeeperMoment, UsedContext } from "./context-keeper.ts";
import { type Expanding, expandCompactions } from "./expand-compactions.ts";
import { findAsked } from "./keep-words.ts";
import { estimateTokens } from "./token-estimate.ts";
import { truncate } from "./truncation.ts";
import { isVain } from "./vain.ts";

/** Makes a conversation short. Each compactor decides how the result is stored and reported. */
export interface Compactor {
  /** Undefined if the conversation would not get shorter. Rejects as `Summariser.summarise` does. */
  compact(items: readonly Item[], wish: CompactionWish): Promise<Compacted | undefined>;
}

export interface CompactionWish extends Partial<Pick<KeeperMoment, "task" | "recorded">> {
  /** Unique in the run. */
  readonly place: string;
  /** The items that the model has still to answer; they stay as they are. */
  readonly asked?: readonly Item[] | undefined;
  /** How many tokens the conversation takes, with everything that is sent with it. */
  readonly tokens: number;
  /** The turn that follows. */
  readonly turn: number;
  /** True if the vendor has refused the conversation: its window is smaller than was known. */
  readonly isRefused: boolean;
}

/** When a conversation is compacted. */
interface KeeperWish {
  readonly truncation: "auto" | "disabled";
  /** Compact from this many tokens on; null for never. */
  readonly compact_threshold: number | null;
}

export interface ContextKeeperParts {
  readonly wish: KeeperWish;
  /**
   * `client`: after each turn, also the last, because the client continues with it. `run`: only if a turn follows, or
   * if one was refused as too long.
   */
  readonly keepsFor: "client" | "run";
  readonly expanding: Expanding;
  readonly compactor: Compactor;
  /** The model's window; undefined if it is not known: `cut-to-fit.ts` finds it out then. */
  readonly contextTokens: number | undefined;
  readonly max_output_tokens: number | null;
  readonly instructions: string | null;
  readonly tools: readonly Tool[];
}

export function createContextKeeper(parts: ContextKeeperParts): ContextKeeper {
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
      if ((moment.when === "after") !== (parts.keepsFor === "client")) return undefined;
      const tokens = sizeOf(parts, items, used);
      const found = findWish(parts, items, { ...moment, used, tokens });
      return found && (await compactOrLeave(parts.compactor, items, found, attempts));
    },
  };
}

interface Found extends KeeperMoment {
  readonly used: UsedContext;
  readonly tokens: number;
}

function findWish(
  { wish, keepsFor }: ContextKeeperParts,
  items: readonly Item[],
  { when, turn, task, recorded, used, tokens }: Found,
): CompactionWish | undefined {
  const threshold = wish.compact_threshold ?? Number.POSITIVE_INFINITY;
  const isRefused = when === "refused";
  if (tokens < threshold && !isRefused && !recorded) return undefined;
  const place = isRefused ? `${turn}:again` : String(turn);
  const about = { place, task, recorded, tokens, turn: turn + 1, isRefused };
  if (keepsFor === "run") return about;
  // Before the first turn the conversation ends with a question, which must not be lost in a summary.
  const asked = turn === 0 ? findAsked(items, threshold * ASKED_SHARE) : [];
  if (isUnknown(used) && !isWorthwhile(items, asked, threshold)) return undefined;
  return { ...about, asked };
}

/** The share of the threshold that items which the model has to answer may take. */
const ASKED_SHARE = 0.5;
/** Conversations shorter than this share of the threshold are not compacted: something else is too long. */
const LEAST_SHARE = 0.25;

/** The vendor's own count of the last turn plus what came since, or an estimate of everything. */
function sizeOf(
  parts: ContextKeeperParts,
  items: readonly Item[],
  { usage, since }: UsedContext,
): number {
  if (usage.total_tokens > 0) return usage.total_tokens + estimateTokens({ items: since });
  const { items: sent } = expandCompactions(items, parts.expanding);
  return estimateTokens({
    items: sent,
    instructions: parts.instructions ?? "",
    tools: parts.tools,
  });
}

function isUnknown({ usage }: UsedContext): boolean {
  return usage.total_tokens === 0;
}

function isWorthwhile(items: readonly Item[], asked: readonly Item[], threshold: number): boolean {
  const stays = new Set(asked);
  const rest = items.filter((item) => !stays.has(item) && item.type !== "compaction");
  return estimateTokens({ items: rest }) >= threshold * LEAST_SHARE;
}

/** The share of the window that is kept for the answer if the request does not say. */
const ANSWER_SHARE = 0.1;

function toRoom(parts: ContextKeeperParts): number | undefined {
  const { contextTokens, max_output_tokens, instructions, tools } = parts;
  if (contextTokens === undefined) return undefined;
  const answer = Math.max(max_output_tokens ?? 0, contextTokens * ANSWER_SHARE);
  const fixed = estimateTokens({ items: [], instructions: instructions ?? "", tools });
  return contextTokens - Math.min(answer, contextTokens / 2) - fixed;
}

/** How many compactions in a row may fail: each attempt may cost something. */
const MAX_IN_VAIN = 3;

interface Attempts {
  inVain: number;
  readonly most: number;
}

/** Compacts. If no summary can be made, the conversation stays as it is, and no answer is lost. */
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
