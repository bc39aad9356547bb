/**
 * The conversation that a request goes on with: the chain of responses behind `previous_response_id`,
 * or what a conversation holds. Calls, their results and reasoning are in it, whole; instructions of
 * earlier requests are not. What stands before the last compaction is in the compaction.
 */

import { Failure } from "../../base/failure.ts";
import { countJsonChars } from "../../base/json-size.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { Shelf } from "../../store/shelf.ts";
import { readOutput } from "../kept/kept-output.ts";
import { findKept, readInput } from "../kept/kept-response.ts";
import { MAX_CONTEXT_CHARS, toTooLong } from "../request/context-size.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import { sinceSummary } from "./run-items.ts";

export interface BeforeParts {
  readonly shelf: Shelf;
  readonly place: Engine;
  /** What a conversation held when it had come so far. */
  readonly readConversation: (
    tenant: string,
    id: string,
    position: number,
  ) => Promise<readonly Item[]>;
}

type Before = Pick<ResponseWish, "tenant" | "previous_response_id" | "conversation">;

export async function readBefore(parts: BeforeParts, wish: Before): Promise<readonly Item[]> {
  const { tenant, previous_response_id, conversation } = wish;
  if (conversation) {
    return sinceCompaction(
      await parts.readConversation(tenant, conversation.id, conversation.position),
    );
  }
  return previous_response_id ? await readChain(parts, tenant, previous_response_id) : [];
}

/** From the newest backwards, so that what was compacted is not read. */
async function readChain(
  { shelf, place }: BeforeParts,
  tenant: string,
  id: string,
): Promise<readonly Item[]> {
  const pieces: (readonly Item[])[] = [];
  let size = 0;
  for (let next: string | null = id; next !== null; ) {
    const kept = await findKept(shelf, tenant, next);
    const output = kept && (await readOutput({ shelf, place }, tenant, next));
    const input = output && (await readInput(place, next, kept));
    if (!kept || !input) throw toUnknownPrevious(next);
    const items: readonly Item[] = [...input, ...output];
    pieces.unshift(items);
    size += countJsonChars(items);
    if (size > MAX_CONTEXT_CHARS) throw toTooLong("previous_response_id");
    next = items.some(({ type }) => type === "compaction") ? null : kept.previous_response_id;
  }
  return sinceCompaction(pieces.flat());
}

export function toUnknownPrevious(id: string): Failure {
  const message = `The previous response \`${id}\` was not found.`;
  const param = "previous_response_id";
  return new Failure("previous_response_not_found", message, { param });
}

/** A compaction of a request, or the summary of a run of a session. */
function sinceCompaction(items: readonly Item[]): readonly Item[] {
  const at = items.findLastIndex(({ type }) => type === "compaction");
  return sinceSummary(at < 0 ? items : items.slice(at));
}
