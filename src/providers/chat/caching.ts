/**
 * How a chat server is told what of a prompt to cache. OpenAI's own takes the marks of parts as they are.
 * OpenRouter takes Anthropic's: on parts, and one for the whole body that marks the end of the prompt.
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
  /** What a part has besides. */
  markOf(part: ContentPart): JsonObject | undefined;
}

const NO_CACHING: Caching = { fields: {}, markOf: () => undefined };

export function encodeCaching(request: ModelRequest, { cacheMarks }: Quirks): Caching {
  const { prompt_cache_retention } = request.options ?? {};
  if (cacheMarks !== "cache_control") {
    const fields = { prompt_cache_retention };
    return cacheMarks ? { fields, markOf: toBreakpoint } : { ...NO_CACHING, fields };
  }
  const isClaude = CLAUDE.test(request.model);
  const mark = ((isClaude && markFor(prompt_cache_retention)) || EPHEMERAL) as JsonObject &
    CacheMark;
  const own = request.items.filter(isSent).flatMap(partsOf).filter(isMarked).slice(-MAX_MARKS);
  const marked = new Set(own);
  return {
    // It takes one of the places.
    fields: { cache_control: isClaude && own.length < MAX_MARKS ? mark : undefined },
    markOf: (part) => (marked.has(part) ? { cache_control: mark } : undefined),
  };
}

/** What the body does not say of what is to be cached. */
export function omittedCaching(request: ModelRequest, { cacheMarks }: Quirks): string[] {
  const { prompt_cache_retention } = request.options ?? {};
  const isKept = CLAUDE.test(request.model) && markFor(prompt_cache_retention) !== undefined;
  const isUnsaid =
    cacheMarks === "cache_control" && prompt_cache_retention !== undefined && !isKept;
  return [
    ...(isUnsaid ? ["prompt_cache_retention"] : []),
    ...omittedMarks(request, (item) => cacheMarks !== undefined && isSent(item)),
  ];
}

const CLAUDE = /\bclaude\b/i;
const EPHEMERAL: CacheMark = { type: "ephemeral" };

/** Marks of what a tool gave and of what the model said are not sent: both are plain texts here. */
function isSent(item: Item): boolean {
  return item.type === "message" && item.role !== "assistant";
}

function toBreakpoint(part: ContentPart): JsonObject | undefined {
  if (!isMarked(part)) return undefined;
  const { prompt_cache_breakpoint } = part as { readonly prompt_cache_breakpoint: JsonObject };
  // How long is Claude's own word.
  const { ttl: _, ...mark } = prompt_cache_breakpoint;
  return { prompt_cache_breakpoint: mark };
}
