/**
 * The things that are stored with a response's run: the response, and its place in its conversation.
 */

import type { Clock } from "../../base/clock.ts";
import type { NewThing } from "../../store/shelf.ts";
import { toSessionRunThing } from "../conversations/session-things.ts";
import { toKeptInput, toKeptThing } from "../kept/kept-response.ts";
import type { Planned } from "../request/plan-response.ts";

interface Keeping {
  readonly clock: Clock;
  /** How long a stored response is kept; null for ever. */
  readonly ttlMs: number | null;
}

interface Names {
  readonly id: string;
  readonly runId: string;
}

/** The response comes first. */
export function toResponseThings(
  { clock, ttlMs }: Keeping,
  { id, runId }: Names,
  { wish, task }: Planned,
): readonly [NewThing, ...NewThing[]] {
  const { tenant, previous_response_id, conversation, background } = wish;
  const conversation_id = conversation?.id ?? null;
  const input = toKeptInput(task.items);
  const kept = { previous_response_id, conversation_id, background, input };
  const nowMs = clock.now();
  const response = toKeptThing({ tenant, id, kept }, { nowMs, ttlMs });
  if (!conversation) return [response];
  const session = { tenant, id: conversation.id };
  return [response, toSessionRunThing(session, { run: runId, folder: null }, nowMs)];
}
