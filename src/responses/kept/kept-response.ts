/** What is kept of a response beside its run's log: whose it is, what it goes on with, what was sent. */

import { parseTask } from "../../agent/task.ts";
import type { Json } from "../../base/json.ts";
import { isLarge } from "../../base/json-pieces.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { NewThing, Shelf, Thing } from "../../store/shelf.ts";
import { toRunId } from "../fold/response-object.ts";

/** The name of the body of responses in the record. */
export const RESPONSE_BODY = "response";
export const RESPONSE_KIND = "response";
/** Stands for an item of a response or a conversation, so that it can be referred to by its id alone. */
export const ITEM_KIND = "item";

export interface KeptResponse {
  readonly previous_response_id: string | null;
  readonly conversation_id: string | null;
  readonly background: boolean;
  /** The request's own items, with their ids; null where they are large: they stand in the run's task. */
  readonly input: readonly Item[] | null;
}

export function encodeKept(kept: KeptResponse): Json {
  return kept as unknown as Json;
}

/** What a response keeps of its input: it is not written twice where it is large. */
export function toKeptInput(items: readonly Item[]): KeptResponse["input"] {
  return isLarge(items) ? null : items;
}

/** The request's own items. Undefined where they are with a run that is gone. */
export async function readInput(
  engine: Pick<Engine, "input">,
  id: string,
  { input }: KeptResponse,
): Promise<readonly Item[] | undefined> {
  if (input) return input;
  const task = await engine.input(toRunId(id));
  return task === undefined ? undefined : parseTask(task).items;
}

/** A response as it is put on the shelf. */
export function toKeptThing(
  {
    tenant,
    id,
    kept,
  }: { readonly tenant: string; readonly id: string; readonly kept: KeptResponse },
  { nowMs, ttlMs }: { readonly nowMs: number; readonly ttlMs: number | null },
): NewThing {
  return {
    ...{ tenant, kind: RESPONSE_KIND, id, parent: null },
    body: encodeKept(kept),
    created_at_ms: nowMs,
    expires_at_ms: ttlMs === null ? null : nowMs + ttlMs,
  };
}

export function readKept({ body }: Thing): KeptResponse {
  return body as unknown as KeptResponse;
}

export async function findKept(
  shelf: Shelf,
  tenant: string,
  id: string,
): Promise<KeptResponse | undefined> {
  const thing = await shelf.get({ tenant, kind: RESPONSE_KIND, id });
  return thing && readKept(thing);
}
