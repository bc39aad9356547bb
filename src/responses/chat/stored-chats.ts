/**
 * Stored chat completions (`store: true`), as the API lists, shows, changes and deletes them. They are on the same
 * shelf as responses, each as it was answered, with its input messages.
 */

import { Failure } from "../../base/failure.ts";
import { asJsonObject, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { storedObject } from "../../base/stored.ts";
import { clip } from "../../base/text.ts";
import { nextTurn } from "../../base/turn.ts";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import { Metadata } from "../../protocol/request.ts";
import type { NewThing, Thing, ThingName } from "../../store/shelf.ts";
import type { Caller } from "../tenant/caller.ts";
import { claimMade, findMade, type Once, type OnceKey, toOnceKey } from "../tenant/idempotency.ts";
import { type ListPage, type Paging, parsePaging, toPage, toThingQuery } from "../tenant/paging.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import type { ChatCompletion } from "./chat-completion.ts";

export interface ChatsApi {
  /** Rejects, before the model is asked, if the tenant has no room for what it asks to store. */
  checkRoom(messages: readonly Json[], caller: Caller): Promise<void>;
  /**
   * The completion that an earlier request with this key made; undefined if there is none, or if it is gone.
   */
  findMade(once: Once, caller: Caller): Promise<ChatCompletion | undefined>;
  /**
   * Returns what is stored: with `once`, that of another request with the key if that was first.
   */
  keep(chat: AnsweredChat, caller: Caller, once?: Once): Promise<ChatCompletion>;
  /** Filtered by `model` and `metadata[KEY]`. */
  list(query: URLSearchParams, caller: Caller): Promise<ListPage<StoredChat>>;
  get(id: string, caller: Caller): Promise<StoredChat>;
  messages(id: string, query: URLSearchParams, caller: Caller): Promise<ListPage<StoredMessage>>;
  /** The new metadata replaces the old completely. */
  update(id: string, body: unknown, caller: Caller): Promise<StoredChat>;
  delete(id: string, caller: Caller): Promise<DeletedChat>;
}

export interface AnsweredChat {
  readonly completion: ChatCompletion;
  /** As the request has them. */
  readonly messages: readonly Json[];
}

/** A completion as it was answered, with its present metadata. */
export type StoredChat = JsonObject & { readonly id: string };

export type StoredMessage = JsonObject & { readonly id: string };

export interface DeletedChat {
  readonly id: string;
  readonly object: "chat.completion.deleted";
  readonly deleted: true;
}

export const UpdateChat = open({ metadata: Metadata.nullable() });

interface ChatsParts extends Pick<ShelfParts, "shelf" | "clock"> {
  /** The server's own secret, with which the keys of requests are hashed. */
  readonly sealKey: Uint8Array;
  /** How long they are kept; null for ever. */
  readonly ttlMs: number | null;
}

const KIND = "chat_completion";
/**
 * The messages of a completion are stored separately: they may be large, and a list of completions does not read
 * them.
 */
const MESSAGES_KIND = "chat_completion.messages";

export function createChatsApi(parts: ChatsParts): ChatsApi {
  const { shelf, sealKey } = parts;
  const find = async (id: string, { tenant }: Caller): Promise<StoredChat> => {
    const thing = await shelf.get(nameChat(tenant, id));
    if (thing) return readKept(thing);
    throw toUnknownChat(id);
  };
  return {
    checkRoom: (messages, { tenant }) => shelf.checkRoom(tenant, [...messages]),
    findMade: async (once, { tenant }) =>
      (await findKept(parts, await toOnceKey(once, tenant, sealKey))).completion,
    async keep(chat, { tenant }, once) {
      const things = toThings(parts, tenant, chat);
      if (once) return await keepOnce(parts, await toOnceKey(once, tenant, sealKey), chat, things);
      await shelf.putAll(things);
      return chat.completion;
    },
    list: (query, { tenant }) => listChats(parts, tenant, query),
    get: find,
    async messages(id, query, caller) {
      await find(id, caller);
      const kept = (await shelf.get(nameMessages(caller.tenant, id)))?.body;
      const messages: Json[] = Array.isArray(kept) ? [...kept] : [];
      const paging = parsePaging(query, { defaultOrder: "asc" });
      return pageOf(
        messages.map((message, at) => toStoredMessage(`${id}-${at}`, message)),
        paging,
      );
    },
    async update(id, body, caller) {
      const { metadata } = parseAs(UpdateChat, body, "request");
      await shelf.change(nameChat(caller.tenant, id), (kept) =>
        isJsonObject(kept) ? { ...kept, metadata: metadata ?? {} } : undefined,
      );
      return await find(id, caller);
    },
    async delete(id, { tenant }) {
      if (!(await shelf.delete(nameChat(tenant, id)))) throw toUnknownChat(id);
      return { id, object: "chat.completion.deleted", deleted: true };
    },
  };
}

/** The completion that a key has made: `id` also if the chat itself is gone. */
async function findKept(
  { shelf, clock }: ChatsParts,
  once: OnceKey,
): Promise<{ readonly id?: string; readonly completion?: ChatCompletion | undefined }> {
  const id = await findMade(shelf, once, clock.now());
  if (id === undefined) return {};
  const thing = await shelf.get(nameChat(once.tenant, id));
  return { id, completion: thing && STORED_COMPLETION.read(readKept(thing)) };
}

const STORED_COMPLETION = storedObject<ChatCompletion>("a chat completion", ["choices"]);

/**
 * In one transaction with its key; of several requests at once, the first is stored for all of them.
 */
async function keepOnce(
  parts: ChatsParts,
  once: OnceKey,
  { completion }: AnsweredChat,
  things: readonly NewThing[],
): Promise<ChatCompletion> {
  let inPlaceOf: string | undefined;
  for (;;) {
    const making = { made: completion.id, things, inPlaceOf };
    if (await claimMade(parts.shelf, once, making, parts.clock.now())) return completion;
    const { id, completion: first } = await findKept(parts, once);
    if (first) return first;
    inPlaceOf = id;
  }
}

function toThings(
  { clock, ttlMs }: ChatsParts,
  tenant: string,
  { completion, messages }: AnsweredChat,
): NewThing[] {
  const nowMs = clock.now();
  const times = { created_at_ms: nowMs, expires_at_ms: ttlMs === null ? null : nowMs + ttlMs };
  const { id } = completion;
  const body = asJsonObject(completion);
  return [
    { ...nameChat(tenant, id), parent: null, body, ...times },
    { ...nameMessages(tenant, id), parent: id, body: [...messages], ...times },
  ];
}

function readKept({ id, body }: Pick<Thing, "id" | "body">): StoredChat {
  return { ...(isJsonObject(body) ? body : {}), id };
}

/** How many are read at once for a page: answers may be large. */
const READ_AT_ONCE = 20;

async function listChats(
  { shelf }: ChatsParts,
  tenant: string,
  query: URLSearchParams,
): Promise<ListPage<StoredChat>> {
  // The API has no `before` here.
  const paging = { ...parsePaging(query, { defaultOrder: "asc" }), before: undefined };
  const fits = toFilter(query);
  const found: StoredChat[] = [];
  let { after } = paging;
  for (;;) {
    const asked = { ...paging, after, limit: READ_AT_ONCE };
    const things = await shelf.list(toThingQuery({ tenant, kind: KIND }, asked));
    found.push(...things.map(readKept).filter(fits));
    after = things.at(-1)?.id;
    // One more than fits says that there are more. If few pass a filter, all may have to be read.
    if (found.length > paging.limit || things.length < READ_AT_ONCE) break;
    await nextTurn();
  }
  return toPage(found, paging.limit, (chat) => chat);
}

function toFilter(query: URLSearchParams): (chat: StoredChat) => boolean {
  const model = query.get("model");
  const wanted = [...query].flatMap(([name, value]) => {
    const key = /^metadata\[(.+)\]$/.exec(name)?.[1];
    return key === undefined ? [] : [[key, value] as const];
  });
  return (chat) => {
    const metadata = isJsonObject(chat["metadata"]) ? chat["metadata"] : {};
    if (model !== null && chat["model"] !== model) return false;
    return wanted.every(([key, value]) => metadata[key] === value);
  };
}

/** A message as it was sent: a text in `content`, or parts in `content_parts`. */
function toStoredMessage(id: string, message: Json): StoredMessage {
  const given = isJsonObject(message) ? message : {};
  const { content = null } = given;
  const isParts = Array.isArray(content);
  return {
    name: null,
    ...given,
    id,
    content: isParts ? null : content,
    content_parts: isParts ? content : null,
  };
}

/** All messages are in memory: the page is cut out of them. */
function pageOf(
  all: readonly StoredMessage[],
  { limit, order, after }: Paging,
): ListPage<StoredMessage> {
  const ordered = order === "asc" ? all : [...all].reverse();
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const isUnknown = after !== undefined && from === 0;
  return toPage(isUnknown ? [] : ordered.slice(from, from + limit + 1), limit, (one) => one);
}

function nameChat(tenant: string, id: string): ThingName {
  return { tenant, kind: KIND, id };
}

function nameMessages(tenant: string, id: string): ThingName {
  return { tenant, kind: MESSAGES_KIND, id };
}

function toUnknownChat(id: string): Failure {
  const message = `There is no stored chat completion \`${clip(id, 80)}\`. Only those of requests with \`store: true\` are kept.`;
  return new Failure("not_found", message, { param: "completion_id" });
}
