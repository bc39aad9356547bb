/**
 * `POST /v1/chat/completions`, for the many clients that still use it: a request of the Responses API in another
 * form, on every provider. It is stored if `store` is true (`routes/stored-chats.ts`).
 */

import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { Metadata } from "../../protocol/request.ts";
import type { ResponsesApi } from "../../responses/api/api.ts";
import {
  type AskedChoices,
  completeChoices,
  findEnded,
  modelOf,
  streamChoices,
} from "../../responses/chat/chat-choices.ts";
import { type ChatCompletion, toChatCompletion } from "../../responses/chat/chat-completion.ts";
import { toChunks } from "../../responses/chat/chat-replay.ts";
import { isChatParameter } from "../../responses/chat/chat-request.ts";
import {
  type ChatWriter,
  type ChatWriterOptions,
  createChatWriter,
} from "../../responses/chat/chat-writer.ts";
import { type ParsedChat, toCreateResponse } from "../../responses/chat/parse-chat.ts";
import type { ChatsApi } from "../../responses/chat/stored-chats.ts";
import { tellIgnored } from "../../responses/fold/ignored.ts";
import type { Events, LiveResponse } from "../../responses/follow/live-response.ts";
import { type Once, readOnce } from "../../responses/tenant/idempotency.ts";
import type { Route, RouteAnswer, RouteCall, StreamEvent } from "../route.ts";

export function createChatRoutes(api: ResponsesApi, chats: ChatsApi): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/chat/completions",
      summary: "Complete a chat, streamed or not; stored where `store` is true",
      scope: "responses",
      speaks: "chat",
      async handle(call) {
        const body = await call.json();
        api.checkCounts(body);
        const parsed = toCreateResponse(body);
        const sent = readOnce(call.request.headers, "POST /v1/chat/completions", body);
        // A completion that is not stored cannot be given again for the same idempotency key.
        const once = parsed.kept ? sent : undefined;
        const made = once && (await chats.findMade(once, call.caller));
        if (made) return replay(made, parsed);
        const keep = await openKeep(chats, parsed, call, once);
        return parsed.count > 1
          ? await completeSeveral(api, { ...parsed, keep }, call)
          : await complete(api, { ...parsed, keep }, call);
      },
    },
  ];
}

/** Stores a completion. Undefined if the request does not ask for that. */
type Keep = ((completion: ChatCompletion) => Promise<ChatCompletion>) | undefined;

interface KeptChat extends ParsedChat {
  readonly keep: Keep;
}

/** Refuses a request that has no room in storage before the model is asked. */
async function openKeep(
  chats: ChatsApi,
  { kept: messages }: ParsedChat,
  { caller }: RouteCall,
  once: Once | undefined,
): Promise<Keep> {
  if (!messages) return undefined;
  await chats.checkRoom(messages, caller);
  return (completion) => chats.keep({ completion, messages }, caller, once);
}

const REPLAYED = { "idempotent-replayed": "true" };

/** The stored answer of an earlier request with the same idempotency key. */
function replay(made: ChatCompletion, { request, answer }: ParsedChat): RouteAnswer {
  if (!request.stream) return { kind: "json", body: made, headers: REPLAYED };
  const events = toEvents(toAsync([toChunks(made, answer)]));
  return { kind: "events", events, failure: () => undefined, headers: REPLAYED };
}

async function* toAsync<Value>(values: readonly Value[]): AsyncGenerator<Value> {
  yield* values;
}

/**
 * The answer that counts. If another request with the same key stored its answer first, it is that one.
 */
async function toKept(
  made: ChatCompletion,
  keep: Keep,
): Promise<Extract<RouteAnswer, { kind: "json" }>> {
  const body = keep ? await keep(made) : made;
  return { kind: "json", body, headers: body.id === made.id ? {} : REPLAYED };
}

async function complete(
  api: ResponsesApi,
  { request, ignored, answer, keep }: KeptChat,
  { caller, signal }: RouteCall,
): Promise<RouteAnswer> {
  const live = await api.create(request, caller);
  const headers = { "x-request-id": live.id };
  const { calls } = answer;
  const toCompletion = (response: EmittedResponse): ChatCompletion =>
    toChatCompletion(withIgnored(response, request.metadata, ignored), { calls });
  if (live.asked.stream) {
    const onEnd =
      keep && (async (response: EmittedResponse) => void (await keep(toCompletion(response))));
    const events = writeChunks(live.events(signal), { ...answer, ignored }, onEnd);
    return { kind: "events", events, failure: () => live.failure(), headers };
  }
  const kept = await toKept(toCompletion(await live.response(signal)), keep);
  return { ...kept, headers: { ...headers, ...kept.headers } };
}

/**
 * Adds the fields of the chat request that were ignored to those that the model's API has no word for.
 */
function withIgnored(
  response: EmittedResponse,
  metadata: Metadata | null | undefined,
  ignored: readonly string[],
): EmittedResponse {
  const said = { ...response };
  const all = [...(response.offshoot?.ignored ?? []), ...ignored];
  tellIgnored(said, metadata ?? {}, all, isChatParameter);
  return said;
}

async function completeSeveral(
  api: ResponsesApi,
  { request, ignored, answer, count, keep }: KeptChat,
  { caller, countMore, signal }: RouteCall,
): Promise<RouteAnswer> {
  // Each choice is a model call of its own: `n` must not evade a limit on requests.
  await countMore(count - 1);
  const asked: AskedChoices = {
    count,
    answer,
    ignored,
    keep,
    concurrent: caller.concurrent,
    begin: () => api.create(request, caller),
    tell: (response) => withIgnored(response, request.metadata, ignored),
  };
  if (!request.stream) {
    return await toKept(await completeChoices(asked, signal), keep);
  }
  const begun: LiveResponse[] = [];
  const frames = streamChoices(asked, { signal, onBegin: (live) => begun.push(live) });
  const failure = (): ReturnType<LiveResponse["failure"]> =>
    begun.map((live) => live.failure()).find((one) => one !== undefined);
  return { kind: "events", events: toEvents(frames), failure };
}

async function* toEvents(
  batches: AsyncIterable<readonly string[]>,
): AsyncGenerator<readonly StreamEvent[]> {
  for await (const frames of batches) yield frames.map((frame) => ({ frame }));
}

/** Yields nothing before there is output: until then, a failure has a status of its own. */
async function* writeChunks(
  events: Events,
  answer: Omit<ChatWriterOptions, "model">,
  onEnd: ((response: EmittedResponse) => Promise<void>) | undefined,
): AsyncGenerator<readonly StreamEvent[]> {
  let writer: ChatWriter | undefined;
  let ended: EmittedResponse | undefined;
  for await (const batch of events) {
    if (onEnd) ended = findEnded(batch) ?? ended;
    const known = writer ?? createChatWriter({ model: modelOf(batch), ...answer });
    writer = known;
    const frames = batch.flatMap((event) => known.write(event));
    if (frames.length > 0) yield frames.map((frame) => ({ frame }));
  }
  if (ended) await onEnd?.(ended);
}
