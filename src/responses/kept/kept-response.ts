/** The data of a response besides its run's log: its tenant, what it continues, its input. */

import { parseTask } from "../../agent/task.ts";
import { isLarge } from "../../base/json-pieces.ts";
import { storedObject } from "../../base/stored.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { NewThing, Shelf, Thing } from "../../store/shelf.ts";
import { toRunId } from "../fold/response-object.ts";

/** The name of the body of responses in the record. */
export const RESPONSE_BODY = "response";
export const RESPONSE_KIND = "response";
/**
 * Represents an item of a response or a conversation, so that a request can refer to it by its id alone.
 */
export const ITEM_KIND = "item";

export interface KeptResponse {
  /** The first field: a chain is followed by it (`Shelf.readChain`). */
  readonly previous_response_id: string | null;
  readonly conversation_id: string | null;
  readonly background: boolean;
  /**
   * The request's own items, with their ids; null if they are large: then they are only in the run's task.
   */
  readonly input: readonly Item[] | null;
}

const RESPONSE = storedObject<KeptResponse>("a response", ["background", "input"]);

export const encodeKept = RESPONSE.write;

/** The input as a response stores it: a large input is not stored twice. */
export function toKeptInput(items: readonly Item[]): KeptResponse["input"] {
  return isLarge(items) ? null : items;
}

/** The request's own items. Undefined if they were in a run that is gone. */
export async function readInput(
  engine: Pick<Engine, "input">,
  id: string,
  { input }: KeptResponse,
): Promise<readonly Item[] | undefined> {
  if (input) return input;
  const task = await engine.input(toRunId(id));
  return task === undefined ? undefined : parseTask(task).items;
}

/** A response as a thing of the shelf. */
export function toKeptThing(
  {
    tenant,
    id,
    kept,
  }: { readonly tenant: string; readonly id: string; readonly kept: KeptResponse },
  { nowMs, ttlMs }: { readonly nowMs: number; readonly ttlMs: number | null },
): NewThing {
  return {
    tenant,
    kind: RESPONSE_KIND,
    id,
    parent: null,
    body: encodeKept(kept),
    created_at_ms: nowMs,
    expires_at_ms: ttlMs === null ? null : nowMs + ttlMs,
  };
}

export function readKept({ body }: Thing): KeptResponse {
  return RESPONSE.read(body);
}

export async function findKept(
  shelf: Shelf,
  tenant: string,
  id: string,
): Promise<KeptResponse | undefined> {
  const thing = await shelf.get({ tenant, kind: RESPONSE_KIND, id });
  return thing && readKept(thing);
}
