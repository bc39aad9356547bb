/**
 * Conversations in the API's form, over a shelf: a conversation is a thing, and each of its items is a thing with the
 * conversation as parent. The thing of an item is named by both ids, as one item may be in several conversations of a
 * tenant.
 */

import { z } from "zod";
import { Failure } from "../../base/failure.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import { Metadata } from "../../protocol/request.ts";
import type { Thing } from "../../store/shelf.ts";
import { claimMade, findMade, type OnceKey } from "../tenant/idempotency.ts";
import { type ShelfParts, toSeconds } from "../tenant/shelf-parts.ts";
import { nameConversation } from "./conversation-name.ts";
import {
  type ItemParts,
  parseNewItems,
  putItems,
  readNewItems,
  toItemThings,
} from "./new-items.ts";

export interface Conversation {
  readonly id: string;
  readonly object: "conversation";
  readonly created_at: number;
  readonly metadata: Metadata;
}

export interface DeletedConversation {
  readonly id: string;
  readonly object: "conversation.deleted";
  readonly deleted: true;
}

export const UpdateConversation = open({ metadata: Metadata.nullable() });

export const CreateConversation = open({
  metadata: Metadata.nullable().optional(),
  items: z.array(z.unknown()).nullable().optional(),
});

/** `body` is the request's, unchecked; undefined if it has none. With a key it is made once. */
export async function createConversation(
  parts: ItemParts,
  tenant: string,
  body: unknown,
  once?: OnceKey,
): Promise<Conversation> {
  const made = once && (await findMade(parts.shelf, once, parts.clock.now()));
  if (made !== undefined) return await getConversation(parts, tenant, made);
  const asked = parseAs(CreateConversation, body ?? {}, "request");
  const items = await readNewItems(parts, tenant, parseNewItems(asked.items ?? []));
  const id = parts.makeId("conv");
  const name = nameConversation(tenant, id);
  const written: JsonObject = { metadata: asked.metadata ?? {} };
  const created_at_ms = parts.clock.now();
  const thing = { ...name, parent: null, body: written, created_at_ms, expires_at_ms: null };
  if (once) {
    const things = [thing, ...toItemThings(name, items, created_at_ms)];
    const isFirst = await claimMade(parts.shelf, once, { made: id, things }, created_at_ms);
    if (!isFirst) return await createConversation(parts, tenant, body, once);
  } else {
    await parts.shelf.put(thing);
    await putItems(parts, name, items);
  }
  return toConversation({ id, body: written, created_at_ms });
}

/** Rejects with `not_found` if the conversation does not exist, as all functions here do. */
export async function getConversation(
  { shelf }: Pick<ShelfParts, "shelf">,
  tenant: string,
  id: string,
): Promise<Conversation> {
  const thing = await shelf.get(nameConversation(tenant, id));
  if (!thing) throw toUnknownConversation(id);
  return toConversation(thing);
}

/** The new metadata replaces the old completely. */
export async function updateConversation(
  { shelf }: Pick<ShelfParts, "shelf">,
  tenant: string,
  id: string,
  body: unknown,
): Promise<Conversation> {
  const asked = parseAs(UpdateConversation, body, "request");
  const metadata = asked.metadata ?? {};
  const name = nameConversation(tenant, id);
  await shelf.change(name, (kept) => ({ ...(kept as JsonObject), metadata }));
  return getConversation({ shelf }, tenant, id);
}

/** Deletes a conversation with its items. */
export async function deleteConversation(
  { shelf }: Pick<ShelfParts, "shelf">,
  tenant: string,
  id: string,
): Promise<DeletedConversation> {
  if (!(await shelf.delete(nameConversation(tenant, id)))) throw toUnknownConversation(id);
  return { id, object: "conversation.deleted", deleted: true };
}

export function toUnknownConversation(id: string): Failure {
  const message = `There is no conversation \`${clip(id, 80)}\`.`;
  return new Failure("not_found", message, { param: "conversation_id" });
}

function toConversation(thing: Pick<Thing, "id" | "body" | "created_at_ms">): Conversation {
  const { metadata } = thing.body as { readonly [key: string]: Json | undefined };
  return {
    id: thing.id,
    object: "conversation",
    created_at: toSeconds(thing.created_at_ms),
    metadata: (metadata ?? {}) as Metadata,
  };
}
