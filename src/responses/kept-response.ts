/** What is kept of a response beside its run's log: whose it is, what it goes on with, what was sent. */

import type { Json } from "../base/json.ts";
import type { Item } from "../protocol/items.ts";
import type { NewThing, Shelf, Thing } from "../store/shelf.ts";

export const RESPONSE_KIND = "response";
/** Stands for an item of a response or a conversation, so that it can be referred to by its id alone. */
export const ITEM_KIND = "item";

export interface KeptResponse {
  readonly previous_response_id: string | null;
  readonly conversation_id: string | null;
  readonly background: boolean;
  /** The request's own items, with their ids. */
  readonly input: readonly Item[];
}

export function encodeKept(kept: KeptResponse): Json {
  return kept as unknown as Json;
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
