/**
 * A conversation as a model reads it after a compaction: the content of the last compaction
 * replaces everything before it.
 *
 * Before a compaction clients may send anything: all of the conversation, the user's messages, or
 * new instructions. Messages that the compaction does not cover are kept; everything else before it
 * is left out.
 */

import type { Compaction, Item, Message } from "../../protocol/items.ts";
import type { CompactedContext, CompactionSeal } from "./compacted-context.ts";
import { toMark } from "./message-text.ts";

export interface Expanding {
  readonly open: CompactionSeal["open"];
  /** True if the provider itself reads compactions of its vendor; otherwise they are left out. */
  readonly isNative: boolean;
}

export interface Expanded {
  readonly items: readonly Item[];
  /** The message that holds a model's summary. */
  readonly summary?: Item | undefined;
}

export function expandCompactions(items: readonly Item[], { open, isNative }: Expanding): Expanded {
  if (!items.some(isCompaction)) return { items };
  const last = findLastReadable(items, open);
  const rest = items.slice(last ? last.at + 1 : 0);
  const known = rest.filter((item) => isNative || !isCompaction(item));
  if (!last) return { items: known };
  const { messages, summary, tail, covered } = last.context;
  const marks = new Set(covered);
  const fresh = items
    .slice(0, last.at)
    .filter((item) => isPromptMessage(item) && !marks.has(toMark(item)));
  const told = toSummaryMessage(summary);
  return { items: [...fresh, ...messages, told, ...tail, ...known], summary: told };
}

/** Makes the message in which a model reads a summary. */
export function toSummaryMessage(summary: string): Item {
  return { type: "message", role: "user", content: `${HEADING}\n\n${summary}` };
}

/** True if an item is the message that holds a model's summary. */
export function isSummary(item: Item): boolean {
  if (item.type !== "message" || typeof item.content !== "string") return false;
  return item.role === "user" && item.content.startsWith(HEADING);
}

const HEADING = "Summary of the conversation so far (the rest of it was left out to save space):";

function findLastReadable(
  items: readonly Item[],
  open: Expanding["open"],
): { readonly at: number; readonly context: CompactedContext } | undefined {
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at];
    const context = item && isCompaction(item) ? open(item.encrypted_content) : undefined;
    if (context) return { at, context };
  }
  return undefined;
}

function isCompaction(item: Item): item is Compaction {
  return item.type === "compaction";
}

/** True for messages of a person or a developer, not of a model. */
export function isPromptMessage(item: Item): item is Message {
  return item.type === "message" && item.role !== "assistant";
}
