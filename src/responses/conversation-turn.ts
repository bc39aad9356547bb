/**
 * One at a time on a conversation: whoever adds the items of a whole answer, or looks how far the
 * conversation has come, has it for itself meanwhile. So answers that end at once stand one behind the
 * other, and nobody goes on from half of one. Holds among the processes of one shelf.
 */

import { Failure } from "../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import { nameConversation, toUnknownConversation } from "./conversations/conversations.ts";
import type { ShelfParts } from "./shelf-parts.ts";

/** Longer than any of it takes; a process that died gives it up by this. */
const LEASE_MS = 10_000;
const RETRY_MS = 10;
/** The field of the conversation that says who has it. */
const FIELD = "busy";

/** Rejects with `not_found` where there is no such conversation. */
export async function withConversation<Result>(
  parts: ShelfParts,
  tenant: string,
  id: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const { shelf, clock, makeId } = parts;
  const name = nameConversation(tenant, id);
  const own = makeId("turn");
  for (;;) {
    const nowMs = clock.now();
    const taken = await shelf.change(name, (body) => take(body, own, nowMs));
    if (taken === undefined) throw toUnknownConversation(id);
    if (holderOf(taken) === own) break;
    await clock.sleep(RETRY_MS, undefined);
  }
  try {
    return await work();
  } finally {
    await shelf.change(name, (body) => (holderOf(body) === own ? free(body) : undefined));
  }
}

/** The body with this holder, or as it is while another has it. */
function take(body: Json, id: string, nowMs: number): Json {
  const until_ms = nowMs + LEASE_MS;
  const held = toObject(body)[FIELD];
  const isHeld = isJsonObject(held) && Number(held["until_ms"]) > nowMs;
  return isHeld ? body : { ...toObject(body), [FIELD]: { id, until_ms } };
}

function holderOf(body: Json): string | undefined {
  const held = toObject(body)[FIELD];
  return isJsonObject(held) && typeof held["id"] === "string" ? held["id"] : undefined;
}

function free(body: Json): Json {
  const { [FIELD]: _, ...rest } = toObject(body);
  return rest;
}

function toObject(body: Json): JsonObject {
  if (isJsonObject(body)) return body;
  throw new Failure("internal", "A conversation is kept in another form than it was put.");
}
