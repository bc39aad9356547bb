/**
 * The ends of prefixes that a caller wants to have cached: `prompt_cache_breakpoint` on a part of the
 * conversation, and for how long (`prompt_cache_retention`). Each wire that can says it in its own words;
 * the others name it as left out.
 */

import type { ContentPart } from "../protocol/content.ts";
import type { Item } from "../protocol/items.ts";
import type { ModelRequest } from "./provider.ts";

/** Claude takes no more in one request, wherever it is asked. */
export const MAX_MARKS = 4;

/** How long Claude keeps what is marked, in its maker's words: five minutes, or an hour. */
export interface CacheMark {
  readonly type: "ephemeral";
  readonly ttl?: "1h";
}

/** The mark for a request's word; none for words that mean nothing to Claude. */
export function markFor(retention: string | undefined): CacheMark | undefined {
  if (retention === undefined || retention === "in_memory") return { type: "ephemeral" };
  // An hour is the longest there is.
  return retention === "24h" || retention === "1h" ? { type: "ephemeral", ttl: "1h" } : undefined;
}

/** Whether the caller wants what ends with this part to be cached. A blank text ends nothing. */
export function isMarked(part: ContentPart): boolean {
  if (!("prompt_cache_breakpoint" in part) || !part.prompt_cache_breakpoint) return false;
  return !("text" in part && typeof part.text === "string" && part.text.trim() === "");
}

/** For how long the caller wants it to be kept, where it says so of this part alone. */
export function ownMark(part: ContentPart): CacheMark {
  const { prompt_cache_breakpoint: mark } = part as { prompt_cache_breakpoint?: { ttl?: unknown } };
  return mark?.ttl === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

/** The parts of an item; none where it is a plain text. */
export function partsOf(item: Item): readonly ContentPart[] {
  const content = contentOf(item);
  return content === undefined || typeof content === "string" ? [] : content;
}

function contentOf(item: Item): string | readonly ContentPart[] | undefined {
  switch (item.type) {
    case "message":
      return item.content;
    case "function_call_output":
    case "custom_tool_call_output":
      return item.output;
    default:
      return undefined;
  }
}

/** Names the marks of a request where one of them is not sent. `isSent` tells of a marked item. */
export function omittedMarks(
  { items }: Pick<ModelRequest, "items">,
  isSent: (item: Item) => boolean = () => false,
): string[] {
  const isLost = items.some((item) => partsOf(item).some(isMarked) && !isSent(item));
  return isLost ? ["prompt_cache_breakpoint"] : [];
}
