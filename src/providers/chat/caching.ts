/**
 * How a request tells a chat server what to cache of the prompt. OpenAI's server takes the marks of parts
 * unchanged. OpenRouter takes Anthropic's: on parts, and one in the body that marks the end of the prompt.
 */

import type { JsonObject } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import {
  type CacheMark,
  isMarked,
  MAX_MARKS,
  markFor,
  omittedMarks,
  partsOf,
} from "../cache-marks.ts";
import type { ModelRequest } from "../provider.ts";
import type { Quirks } from "../wire.ts";

export interface Caching {
  /** Fields of the body. */
  readonly fields: JsonObject;
  /** The extra fields of a part. */
  markOf(part: ContentPart): JsonObject | undefined;
}

const NO_CACHING: Caching = { fields: {}, markOf: () => undefined };

export function encodeCaching(request: ModelRequest, { cacheMarks }: Quirks): Caching {
  const { prompt_cache_retention } = request.options ?? {};
  if (cacheMarks !== "cache_control") {
    if (!cacheMarks && prompt_cache_retention === undefined) return NO_CACHING;
    const markOf = cacheMarks ? toBreakpoint : NO_CACHING.markOf;
    return { fields: { prompt_cache_retention }, markOf };
  }
  const isClaude = CLAUDE.test(request.model);
  const mark = ((isClaude && markFor(prompt_cache_retention)) || EPHEMERAL) as JsonObject &
    CacheMark;
  const own = request.items.filter(isSent).flatMap(partsOf).filter(isMarked).slice(-MAX_MARKS);
  const marked = new Set(own);
  return {
    // This mark counts towards the limit as well.
    fields: { cache_control: isClaude && own.length < MAX_MARKS ? mark : undefined },
    markOf: (part) => (marked.has(part) ? { cache_control: mark } : undefined),
  };
}

/** The cache parameters that the body leaves out. */
export function omittedCaching(request: ModelRequest, { cacheMarks }: Quirks): string[] {
  const lost = omittedMarks(request, (item) => cacheMarks !== undefined && isSent(item));
  const { prompt_cache_retention } = request.options ?? {};
  if (cacheMarks !== "cache_control" || prompt_cache_retention === undefined) return lost;
  const isKept = CLAUDE.test(request.model) && markFor(prompt_cache_retention) !== undefined;
  return isKept ? lost : ["prompt_cache_retention", ...lost];
}

const CLAUDE = /\bclaude\b/i;
const EPHEMERAL: CacheMark = { type: "ephemeral" };

/**
 * True if the marks of an item are sent. Tool results and answers are plain texts here, which take no
 * marks.
 */
function isSent(item: Item): boolean {
  return item.type === "message" && item.role !== "assistant";
}

function toBreakpoint(part: ContentPart): JsonObject | undefined {
  if (!isMarked(part)) return undefined;
  const { prompt_cache_breakpoint } = part as { readonly prompt_cache_breakpoint: JsonObject };
  // The retention of a single mark exists for Claude only.
  const { ttl: _, ...mark } = prompt_cache_breakpoint;
  return { prompt_cache_breakpoint: mark };
}
