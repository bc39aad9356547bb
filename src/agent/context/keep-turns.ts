/**
 * Chooses what of a run's conversation stays as it is when the rest is summarised: instructions, the task, what people
 * said last, and the last turns. A call and its result stay or go together. Pure, so a run that resumes from its
 * journal keeps the same.
 */

import { weighText } from "../../base/text-weight.ts";
import type { FunctionCallOutput, Item, Message } from "../../protocol/items.ts";
import { cutMiddle } from "./conversation-text.ts";
import { findCutPoints } from "./cut-points.ts";
import { isPromptMessage } from "./expand-compactions.ts";
import { chooseMessages } from "./keep-words.ts";
import { toPlainText } from "./message-text.ts";
import { CHARS_PER_TOKEN, estimateItem, estimateTokens } from "./token-estimate.ts";
import { isInstruction, isUserMessage } from "./truncation.ts";

export interface TurnsRoom {
  /** The model's window, its answer included. */
  readonly window: number;
  /** The part of the window for the conversation, the instructions and the tools. */
  readonly maxTokens: number;
  /** The part of `maxTokens` that instructions and tools take. */
  readonly fixedTokens: number;
  /** The task of the run. The first and the last of the user's messages in it always stay. */
  readonly task: readonly Item[];
  /** An earlier summary: the new one replaces it. */
  readonly summary: Item | undefined;
}

export interface KeptTurns {
  /** The items to summarise; empty if it is enough to shorten results of the last turn. */
  readonly older: readonly Item[];
  /** The items before the last turns that stay, in their order. */
  readonly before: readonly Item[];
  /** The last turns. Results that are too long for the room are cut in the middle. */
  readonly last: readonly Item[];
}

/** Shares of the window. Together with instructions, tools and a short task they take little more than half of it. */
const SUMMARY_SHARE = 0.1;
const LAST_SHARE = 0.3;
const SAID_SHARE = 0.1;
/** Share of the room that remains after the task: a long task leaves less, and the turns to come need some of it. */
const LAST_OF_FREE = 0.6;
const SAID_OF_FREE = 0.1;
/** With less room than this share of the window a compaction gains nothing: the task itself is too long. */
const LEAST_FREE_SHARE = 0.05;
/** Less than this share of the window is not summarised: a summary would be needed before each turn. */
const LEAST_OLDER_SHARE = 0.1;

/** Undefined if that would not make the conversation shorter. */
export function keepTurns(items: readonly Item[], room: TurnsRoom): KeptTurns | undefined {
  const { window, maxTokens, fixedTokens, summary } = room;
  const pinned = findPinned(items, room.task);
  const free = maxTokens - fixedTokens - sumOf([...pinned]) - window * SUMMARY_SHARE;
  if (free < window * LEAST_FREE_SHARE) return undefined;
  const lastRoom = Math.min(window * LAST_SHARE, free * LAST_OF_FREE);
  const at = findLastTurns(items, lastRoom);
  const last = cutResults(items.slice(at), lastRoom);
  const older = items.slice(0, at);
  const saidRoom = Math.min(window * SAID_SHARE, free * SAID_OF_FREE);
  const before = findSaid(older, { pinned, summary, maxTokens: saidRoom });
  const kept = new Set([...pinned, ...before]);
  const gone = older.filter((item) => item !== summary && !kept.has(item));
  if (sumOf(gone) >= window * LEAST_OLDER_SHARE) return { older, before, last };
  const isCut = last.some((item, place) => item !== items[at + place]);
  return isCut ? { older: [], before: older, last } : undefined;
}

/** Cuts a summary that is too long, so that the conversation fits as computed. */
export function clipSummary(text: string, window: number): string {
  const most = window * SUMMARY_SHARE * CHARS_PER_TOKEN * PLAIN_SHARE;
  // A character that weighs more than a letter takes the room of several.
  return cutMiddle(text, Math.floor(most * (text.length / Math.max(1, weighText(text)))));
}

/** For a text of ordinary lines: each line break and quote is two characters when it is sent. */
const PLAIN_SHARE = 0.9;

function findPinned(items: readonly Item[], task: readonly Item[]): ReadonlySet<Item> {
  const asked = task.filter(isUserMessage);
  const ends = [asked.at(0), asked.at(-1)];
  return new Set(items.filter((item) => isInstruction(item) || ends.includes(item)));
}

/** The index at which the last turns that fit begin; the last turn if not even that fits. */
function findLastTurns(items: readonly Item[], maxTokens: number): number {
  const starts = findCutPoints(items).filter((at) => isTurnStart(items, at));
  const lastTurn = starts.findLast((at) => !isPrompt(items[at])) ?? starts.at(-1) ?? 0;
  const candidates = starts.filter((at) => at <= lastTurn);
  return candidates.find((at) => sumOf(items.slice(at)) <= maxTokens) ?? lastTurn;
}

/** A model's turn is not cut in two: vendors want its reasoning with all of its calls. */
function isTurnStart(items: readonly Item[], at: number): boolean {
  if (at >= items.length) return false;
  const before = items[at - 1];
  return before === undefined || isPrompt(before) || isResult(before) || isPrompt(items[at]);
}

function isPrompt(item: Item | undefined): boolean {
  return item !== undefined && isPromptMessage(item);
}

function isResult(item: Item): item is FunctionCallOutput {
  return item.type === "function_call_output";
}

interface Said {
  readonly pinned: ReadonlySet<Item>;
  readonly summary: Item | undefined;
  readonly maxTokens: number;
}

function findSaid(older: readonly Item[], { pinned, summary, maxTokens }: Said): readonly Item[] {
  const others = older.filter(
    (item) => isPromptMessage(item) && item !== summary && !pinned.has(item),
  ) as Message[];
  const chosen = chooseMessages(others, maxTokens);
  return older.flatMap((item) => (pinned.has(item) ? [item] : (chosen.get(item) ?? [])));
}

/** Cuts as few results as possible, the longest first. */
function cutResults(items: readonly Item[], maxTokens: number): readonly Item[] {
  const results = items.filter(isResult);
  const rest = sumOf(items) - sumOf(results);
  if (rest + sumOf(results) <= maxTokens) return items;
  const most = findMost(results.map(estimateItem), Math.max(0, maxTokens - rest));
  return items.map((item) =>
    isResult(item) && estimateItem(item) > most ? cut(item, most) : item,
  );
}

/** The most that each result may have, so that all of them fit together. */
function findMost(sizes: readonly number[], maxTokens: number): number {
  let left = maxTokens;
  const sorted = sizes.toSorted((a, b) => a - b);
  for (const [at, size] of sorted.entries()) {
    const each = left / (sorted.length - at);
    if (size > each) return each;
    left -= size;
  }
  return maxTokens;
}

function cut(item: FunctionCallOutput, maxTokens: number): Item {
  const text = toPlainText(item.output);
  let chars = Math.floor(maxTokens * CHARS_PER_TOKEN);
  let shorter: Item = { ...item, output: cutMiddle(text, chars) };
  // The item's other fields, and characters that are escaped, count too.
  while (chars > 0 && estimateItem(shorter) > maxTokens) {
    chars = Math.floor(chars * 0.8);
    shorter = { ...item, output: cutMiddle(text, chars) };
  }
  return shorter;
}

function sumOf(items: readonly Item[]): number {
  return estimateTokens({ items });
}
