/**
 * Places cache points in a prompt: where the caller set them, and, in the remaining places, after the
 * tools, after the instructions and at the end of the conversation, so that the next request of a loop
 * reads all of this one from the cache.
 *
 * Writing costs a quarter more than plain input, for an hour twice as much, and reading a tenth. So no
 * point is added to a request that is not followed by another, nor to a prompt below the least size, which
 * would not be cached anyway.
 */

import { countJsonChars } from "../../base/json-size.ts";
import { MAX_MARKS, markFor } from "../cache-marks.ts";
import { claudeVersion, type ModelId } from "./model-id.ts";
import type { CachePoint, ConverseBody, ConverseTurn, SystemBlock, ToolConfig } from "./schema.ts";

/** About 1,024 tokens, the least that any model caches. */
const MIN_CHARS = 4096;

/** A cache point set by the caller. `placeCachePoints` sets how long it lasts. */
export const POINT: CachePoint = { cachePoint: { type: "default" } };

/** True if the model caches at all. A model that does not cache refuses the cache point itself. */
export function canCache(model: ModelId): boolean {
  return supportOf(model) !== "none";
}

/** True if the model keeps its cache for the given retention. */
export function keepsFor(model: ModelId, retention: string): boolean {
  const mark = markFor(retention);
  return mark !== undefined && canCache(model) && (mark.ttl === undefined || keepsHour(model));
}

/** The body with cache points, all with the same retention. `body` already has the caller's. */
export function placeCachePoints(
  model: ModelId,
  body: ConverseBody,
  retention: string | undefined,
): ConverseBody {
  const support = supportOf(model);
  if (support === "none") return body;
  const isHour = markFor(retention)?.ttl !== undefined && keepsHour(model);
  const point: CachePoint = isHour ? { cachePoint: { type: "default", ttl: "1h" } } : POINT;
  const own = keepLast(body, point);
  const free = MAX_MARKS - countPoints(own);
  return isWorthIt(body) ? placeEnds(own, { point, free, support }) : own;
}

type Support = "all" | "no tools" | "none";

function supportOf(model: ModelId): Support {
  const version = claudeVersion(model);
  if (version !== undefined) {
    return version < 3.5 || model.name.startsWith("claude-3-5-sonnet") ? "none" : "all";
  }
  return model.maker === "amazon" && model.name.startsWith("nova") ? "no tools" : "none";
}

/**
 * True for models that can keep the cache for an hour. Older models, and those of other makers, keep it for
 * five minutes whatever the request says.
 */
function keepsHour(model: ModelId): boolean {
  return (claudeVersion(model) ?? 0) >= 4.5;
}

/** Writes the caller's points as `point`. If there are too many, the first ones are left out. */
function keepLast(body: ConverseBody, point: CachePoint): ConverseBody {
  let left = countPoints(body) - MAX_MARKS;
  if (left <= -MAX_MARKS) return body;
  const keep = <Block extends object>(blocks: readonly Block[]): (Block | CachePoint)[] => {
    const kept = blocks.filter((block) => !isPoint(block) || left-- <= 0);
    return kept.map((block) => (isPoint(block) ? point : block));
  };
  return {
    ...body,
    ...(body.system && { system: keep(body.system) }),
    messages: body.messages.map((turn) => ({ ...turn, content: keep(turn.content) })),
  };
}

function countPoints({ system = [], messages }: ConverseBody): number {
  return [...system, ...messages.flatMap(({ content }) => content)].filter(isPoint).length;
}

export function isPoint(block: object | undefined): block is CachePoint {
  return block !== undefined && "cachePoint" in block;
}

interface Ends {
  readonly point: CachePoint;
  /** How many more points may be set. */
  readonly free: number;
  readonly support: Support;
}

/** Sets the points in the order of what they save. */
function placeEnds(body: ConverseBody, { point, free, support }: Ends): ConverseBody {
  let left = free;
  const end = <Block extends object>(blocks: readonly Block[]): readonly (Block | CachePoint)[] =>
    isPoint(blocks.at(-1)) || left-- <= 0 ? blocks : [...blocks, point];
  const system: readonly SystemBlock[] | undefined = body.system && end(body.system);
  const last = body.messages.at(-1);
  const tail: ConverseTurn | undefined =
    last?.role === "user" ? { ...last, content: end(last.content) } : last;
  const { toolConfig: config } = body;
  const toolConfig: ToolConfig | undefined =
    support === "all" && config ? { ...config, tools: end(config.tools) } : config;
  return {
    ...body,
    messages: tail ? [...body.messages.slice(0, -1), tail] : body.messages,
    ...(system && { system }),
    ...(toolConfig && { toolConfig }),
  };
}

/** A request with tools, or one in the middle of a conversation, is followed by another like it. */
function isWorthIt(body: ConverseBody): boolean {
  if (!body.toolConfig && body.messages.length < 2) return false;
  return countJsonChars([body.system, body.toolConfig, body.messages]) >= MIN_CHARS;
}
