/**
 * Reads the conversation that a request continues: the chain of responses of `previous_response_id`, or the items of
 * a conversation. It includes calls, their results and reasoning; instructions of earlier requests are not included.
 * What came before the last compaction is in the compaction.
 */

import { Failure } from "../../base/failure.ts";
import { countJsonChars } from "../../base/json-size.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { Shelf, Thing } from "../../store/shelf.ts";
import { OUTPUT_KIND, toOutput } from "../kept/kept-output.ts";
import { type KeptResponse, RESPONSE_KIND, readInput, readKept } from "../kept/kept-response.ts";
import { MAX_CONTEXT_CHARS, toTooLong } from "../request/context-size.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import { sinceSummary } from "./run-items.ts";

export interface BeforeParts {
  readonly shelf: Shelf;
  readonly place: Engine;
  /** The items of a conversation up to a position. */
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
  for await (const { kept, output: thing, id: link } of readLinks(shelf, tenant, id)) {
    const output = await toOutput(place, link, thing);
    const input = output && (await readInput(place, link, kept));
    if (!input) throw toUnknownPrevious(link);
    const items: readonly Item[] = [...input, ...output];
    pieces.unshift(items);
    size += countJsonChars(items);
    if (size > MAX_CONTEXT_CHARS) throw toTooLong("previous_response_id");
    if (items.some(({ type }) => type === "compaction")) break;
  }
  return sinceCompaction(pieces.flat());
}

interface Link {
  readonly id: string;
  readonly kept: KeptResponse;
  readonly output: Thing | undefined;
}

/** Links that are read together: a body has 256 KB at most, so two for each of them fit in memory. */
const LINKS_AT_ONCE = 32;

/** A chain of responses, newest first. Throws if one of them is missing. */
async function* readLinks(shelf: Shelf, tenant: string, id: string): AsyncGenerator<Link> {
  const chain = { tenant, kind: RESPONSE_KIND, field: "previous_response_id", beside: OUTPUT_KIND };
  for (let next: string | null = id; next !== null; ) {
    const links = await shelf.readChain({ ...chain, id: next, limit: LINKS_AT_ONCE });
    if (links.length === 0) throw toUnknownPrevious(next);
    for (const { thing, beside } of links) {
      const kept = readKept(thing);
      yield { id: thing.id, kept, output: beside };
      next = kept.previous_response_id;
    }
  }
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
