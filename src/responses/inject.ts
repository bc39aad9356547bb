/**
 * Answers of the client to calls of a response that still runs: taken by the team that works on it, in
 * the process where it does (`multi-agent/injections.ts`).
 */

import { parseTask } from "../agent/task.ts";
import { Failure } from "../base/failure.ts";
import type { Item } from "../protocol/items.ts";
import type { Shelf } from "../store/shelf.ts";
import type { Caller } from "./caller.ts";
import type { RunPlace } from "./fold/read-response.ts";
import { toRunId } from "./fold/response-object.ts";
import { findKept } from "./kept-response.ts";
import type { Injections } from "./multi-agent/injections.ts";
import { readWish } from "./request/response-wish.ts";
import { withId } from "./request/with-id.ts";

export interface InjectParts {
  readonly shelf: Shelf;
  readonly durable: RunPlace;
  readonly injections: Injections;
  /** Items of a client, checked and limited as those of a request. */
  readonly findInput: (input: unknown, caller: Caller) => Promise<readonly Item[]>;
}

export async function inject(
  parts: InjectParts,
  { id, input, caller }: { readonly id: string; readonly input: unknown; readonly caller: Caller },
): Promise<void> {
  const taker = parts.injections.find(toRunId(id));
  if (taker?.tenant !== caller.tenant) throw await toRefusal(parts, id, caller);
  const items = await parts.findInput(input, caller);
  await taker.take(items.map(withId));
}

/** Why nobody takes them. */
async function toRefusal(
  { shelf, durable }: InjectParts,
  id: string,
  { tenant }: Caller,
): Promise<Failure> {
  const run = (await findKept(shelf, tenant, id)) && (await durable.engine.status(toRunId(id)));
  const isTeam = run && readWish(parseTask(run.input).response ?? {}).multi_agent !== null;
  if (run?.status === "ended") return new Failure("conflict", "This response has ended.");
  if (isTeam) {
    const message = "This response is about to begin or to end, or goes on in another process.";
    return new Failure("conflict", message);
  }
  return new Failure("not_found", "This response waits for no call.");
}
