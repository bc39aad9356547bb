/**
 * The ends of the prefixes that a caller wants to have cached: `prompt_cache_breakpoint` on a part of the
 * conversation, and `prompt_cache_retention` for how long. Each wire that can encodes it; the others report
 * it as left out.
 */

import type { ContentPart } from "../protocol/content.ts";
import type { Item } from "../protocol/items.ts";
import type { ModelRequest } from "./provider.ts";

/** The most cache marks that Claude accepts in one request, at every vendor. */
export const MAX_MARKS = 4;

/** A cache mark in Anthropic's words. Claude keeps the prefix for five minutes, or for an hour. */
export interface CacheMark {
  readonly type: "ephemeral";
  readonly ttl?: "1h";
}

/** The mark for a retention of a request; undefined for one that means nothing to Claude. */
export function markFor(retention: string | undefined): CacheMark | undefined {
  if (retention === undefined || retention === "in_memory") return { type: "ephemeral" };
  // An hour is the longest that Claude has.
  return retention === "24h" || retention === "1h" ? { type: "ephemeral", ttl: "1h" } : undefined;
}

/** True if the caller wants the prefix that ends with this part to be cached. A blank text cannot be an end. */
export function isMarked(part: ContentPart): boolean {
  if (!("prompt_cache_breakpoint" in part) || !part.prompt_cache_breakpoint) return false;
  return !("text" in part && typeof part.text === "string" && part.text.trim() === "");
}

/** The mark of one part, with the retention that it names itself, if any. */
export function ownMark(part: ContentPart): CacheMark {
  const { prompt_cache_breakpoint: mark } = part as { prompt_cache_breakpoint?: { ttl?: unknown } };
  return mark?.ttl === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

/** The parts of an item; empty if its content is plain text. */
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

/**
 * The names of the request's cache parameters if one of the marks is not sent. `isSent` answers for one
 * marked item.
 */
export function omittedMarks(
  { items }: Pick<ModelRequest, "items">,
  isSent: (item: Item) => boolean = () => false,
): string[] {
  const isLost = items.some((item) => partsOf(item).some(isMarked) && !isSent(item));
  return isLost ? ["prompt_cache_breakpoint"] : [];
}
