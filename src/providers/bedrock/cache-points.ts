/**
 * Where a prompt is worth caching: behind the tools, behind the instructions and at the end of the
 * conversation, so that the next request of a loop reads all of this one's.
 *
 * Writing costs a quarter more than plain input and reading a tenth, so a request that no other will
 * follow is not marked, nor a prompt below the least size, which would not be cached anyway.
 */

import { claudeVersion, type ModelId } from "./model-id.ts";
import type { CachePoint, ConverseBody, Turn } from "./schema.ts";

/** About 1,024 tokens, the least that any model caches. */
const MIN_CHARS = 4096;

const POINT: CachePoint = { cachePoint: { type: "default" } };

export function placeCachePoints(model: ModelId, body: ConverseBody): ConverseBody {
  const support = supportOf(model);
  if (support === "none" || !isWorthIt(body)) return body;
  const { system, toolConfig: config, messages } = body;
  const toolConfig = support === "all" && config && { ...config, tools: [...config.tools, POINT] };
  return {
    ...body,
    messages: withPoint(messages),
    ...(system && { system: [...system, POINT] }),
    ...(toolConfig && { toolConfig }),
  };
}

/** A model that does not cache refuses the point itself. */
function supportOf(model: ModelId): "all" | "no tools" | "none" {
  const version = claudeVersion(model);
  if (version !== undefined) {
    return version < 3.5 || model.name.startsWith("claude-3-5-sonnet") ? "none" : "all";
  }
  return model.maker === "amazon" && model.name.startsWith("nova") ? "no tools" : "none";
}

/** A request with tools, or one in the middle of a conversation, has another like it behind it. */
function isWorthIt(body: ConverseBody): boolean {
  if (!body.toolConfig && body.messages.length < 2) return false;
  return JSON.stringify([body.system, body.toolConfig, body.messages]).length >= MIN_CHARS;
}

function withPoint(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1);
  if (last?.role !== "user") return turns;
  return [...turns.slice(0, -1), { ...last, content: [...last.content, POINT] }];
}
