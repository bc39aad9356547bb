/**
 * Marks what the server caches. Prefixes are cached, tools before instructions before turns, and a request
 * may mark four ends.
 *
 * Writing to the cache costs a quarter more than plain input, for an hour twice as much, so the end of a
 * conversation is marked only if another request is likely: there are tools, or the conversation already
 * has several turns. The end of the request before is marked too, because the server looks back over 20
 * blocks and no further.
 */

import type {
  Cached,
  MessagesBlock,
  MessagesTurn,
  TextBlock,
} from "../../protocol/messages-blocks.ts";
import { type CacheMark, MAX_MARKS } from "../cache-marks.ts";
import type { MessagesTool } from "./schema.ts";

interface Cacheable {
  readonly system: TextBlock[];
  readonly tools: MessagesTool[];
  readonly turns: MessagesTurn[];
}

/**
 * Marks the blocks in place, the caller's first. All marks have the same retention: the API refuses one
 * that lasts longer than another before it. If the caller sets the retention of each mark, the marks are
 * left unchanged.
 */
export function markCached({ system, tools, turns }: Cacheable, mark: CacheMark): void {
  const blocks = [...tools, ...system, ...turns.flatMap(({ content }) => content)];
  const own = blocks.filter(isMarked);
  for (const block of own.slice(0, -MAX_MARKS)) delete block.cache_control;
  if (own.some(({ cache_control }) => cache_control?.ttl !== undefined)) return;
  for (const block of own.slice(-MAX_MARKS)) block.cache_control = mark;
  const goesOn = tools.length > 0 || turns.some(({ role }) => role === "assistant");
  const users = turns.filter(({ role }) => role === "user");
  const tails = goesOn ? [users.at(-1), users.at(-2)] : [];
  const ends = [
    system.at(-1),
    lastCacheable(tails[0]?.content),
    tools.at(-1),
    lastCacheable(tails[1]?.content),
  ];
  const free = ends.filter((end) => end !== undefined && !isMarked(end));
  for (const end of free.slice(0, Math.max(0, MAX_MARKS - own.length))) {
    if (end) end.cache_control = mark;
  }
}

type Markable = Exclude<MessagesBlock, { type: "thinking" | "redacted_thinking" }>;

function isMarked(block: Cached | MessagesBlock): block is Cached & Markable {
  return "cache_control" in block;
}

function lastCacheable(content: MessagesBlock[] = []): Markable | undefined {
  return content.findLast(
    (block): block is Markable => block.type !== "thinking" && block.type !== "redacted_thinking",
  );
}
