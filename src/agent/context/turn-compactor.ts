/**
 * Compacts the conversation of a run to its task, a summary of what was done, and its last turns. The journal keeps
 * the summary; everything else that stays is found again from the conversation (`keep-turns.ts`).
 */

import type { Clock } from "../../base/clock.ts";
import { storedObject } from "../../base/stored.ts";
import type { Item } from "../../protocol/items.ts";
import type { RunCompaction } from "../../protocol/run-events.ts";
import type { Tool } from "../../protocol/tools.ts";
import { NO_USAGE } from "../../protocol/usage.ts";
import type { Compacted } from "./context-keeper.ts";
import type { CompactionWish, Compactor } from "./create-keeper.ts";
import { toSummaryMessage } from "./expand-compactions.ts";
import { clipSummary, type KeptTurns, keepTurns } from "./keep-turns.ts";
import type { Summariser, Told } from "./summariser.ts";
import { toThreshold } from "./threshold.ts";
import { estimateTokens } from "./token-estimate.ts";

export interface TurnCompactorParts {
  readonly summariser: Summariser;
  readonly clock: Clock;
  /** The model's window; undefined if it is not known. */
  readonly contextTokens: number | undefined;
  readonly max_output_tokens: number | null;
  readonly instructions: string | null;
  readonly tools: readonly Tool[];
}

export function createTurnCompactor(parts: TurnCompactorParts): Compactor {
  /** The message with the last summary: the next one replaces it. */
  let summary: Item | undefined;
  return {
    async compact(items, wish): Promise<Compacted | undefined> {
      const kept = findKept(parts, items, { ...wish, summary });
      if (!kept) return undefined;
      const { older, before, last, window } = kept;
      const told = await parts.summariser.summarise<Told>(wish.place, {
        items: older,
        stored: STORED_SUMMARY,
        told: wish.recorded ? toTold(wish.recorded) : older.length === 0 ? NOTHING_TOLD : undefined,
        write(said) {
          const made = { ...said, summary: clipSummary(said.summary, window) };
          return { made, events: [toEvent(parts, kept, { made, wish })] };
        },
      });
      if (told.summary === "") return { items: [...before, ...last], answer: told.answer };
      summary = toSummaryMessage(told.summary);
      return { items: [...before, summary, ...last], answer: told.answer };
    },
  };
}

const STORED_SUMMARY = storedObject<Told>("a summary", ["summary", "answer"]);

/** If results of the last turn are cut and nothing is summarised, no model is asked. */
const NOTHING_TOLD: Told = { summary: "", answer: { usage: NO_USAGE, cost_usd: 0 } };

function toTold({ summary, usage, cost_usd }: RunCompaction): Told {
  return { summary, answer: { usage, cost_usd } };
}

/**
 * The shares of a refused or unknown size that are assumed as the window, the first that leaves room: instructions,
 * tools and the task may take most of it.
 */
const REFUSED_SHARES = [0.75, 1];

function toWindows(
  parts: TurnCompactorParts,
  items: readonly Item[],
  { isRefused }: CompactionWish,
): number[] {
  const { contextTokens = Number.POSITIVE_INFINITY } = parts;
  if (!isRefused && contextTokens !== Number.POSITIVE_INFINITY) return [contextTokens];
  const size = sizeOf(parts, items);
  return REFUSED_SHARES.map((share) => Math.min(contextTokens, size * share));
}

interface Keeping extends CompactionWish {
  readonly summary: Item | undefined;
}

/** With the window that it fits. */
interface Kept extends KeptTurns {
  readonly window: number;
}

function findKept(
  parts: TurnCompactorParts,
  items: readonly Item[],
  keeping: Keeping,
): Kept | undefined {
  const { summary, task = [], recorded } = keeping;
  const windows = toWindows(parts, items, keeping);
  const fixedTokens = sizeOf(parts, []);
  for (const window of recorded?.summary === "" ? [] : windows) {
    const maxTokens = toThreshold(window, parts.max_output_tokens);
    const kept = keepTurns(items, { window, maxTokens, fixedTokens, task, summary });
    if (kept) return { ...kept, window };
  }
  // In a replay with another window than the original run had, there may be nothing to leave out.
  return recorded && { older: [], before: [], last: items, window: Math.max(...windows) };
}

/** The estimated size of what is sent with these items. */
function sizeOf({ instructions, tools }: TurnCompactorParts, items: readonly Item[]): number {
  return estimateTokens({ items, instructions: instructions ?? "", tools });
}

interface Telling {
  readonly made: Told;
  readonly wish: CompactionWish;
}

function toEvent(
  parts: TurnCompactorParts,
  { older, before, last }: KeptTurns,
  { made, wish }: Telling,
): RunCompaction {
  const at_ms = parts.clock.now();
  if (wish.recorded) return { ...wish.recorded, at_ms };
  const { summary, answer } = made;
  const told = summary === "" ? [] : [toSummaryMessage(summary)];
  return {
    type: "compaction",
    turn: wish.turn,
    summary,
    items: older.length === 0 ? 0 : older.length - before.length,
    kept: last.length,
    tokens_before: Math.round(wish.tokens),
    tokens_after: sizeOf(parts, [...before, ...told, ...last]),
    ...answer,
    at_ms,
  };
}
