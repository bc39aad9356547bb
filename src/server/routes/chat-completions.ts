/**
 * `POST /v1/chat/completions`, for the many clients that still speak it: a request of the Responses API
 * in other words, on every provider, of which nothing is stored.
 */

import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { Metadata } from "../../protocol/request.ts";
import type { ResponsesApi } from "../../responses/api.ts";
import {
  type AskedChoices,
  completeChoices,
  modelOf,
  streamChoices,
} from "../../responses/chat/chat-choices.ts";
import { toChatCompletion } from "../../responses/chat/chat-completion.ts";
import { isChatParameter } from "../../responses/chat/chat-request.ts";
import {
  type ChatWriter,
  type ChatWriterOptions,
  createChatWriter,
} from "../../responses/chat/chat-writer.ts";
import { type ParsedChat, toCreateResponse } from "../../responses/chat/parse-chat.ts";
import { tellIgnored } from "../../responses/fold/ignored.ts";
import type { Events, LiveResponse } from "../../responses/live-response.ts";
import type { Answer, Route, RouteCall, StreamEvent } from "../route.ts";

export function createChatRoutes(api: ResponsesApi): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/chat/completions",
      summary: "Complete a chat, streamed or not; nothing of it is stored",
      scope: "responses",
      speaks: "chat",
      async handle(call) {
        const parsed = toCreateResponse(await call.json());
        return parsed.count > 1
          ? await completeSeveral(api, parsed, call)
          : await complete(api, parsed, call);
      },
    },
  ];
}

async function complete(
  api: ResponsesApi,
  { request, ignored, answer }: ParsedChat,
  { caller, signal }: RouteCall,
): Promise<Answer> {
  const live = await api.create(request, caller);
  const headers = { "x-request-id": live.id };
  if (live.asked.stream) {
    const events = writeChunks(live.events(signal), { ...answer, ignored });
    return { kind: "events", events, failure: () => live.failure(), headers };
  }
  const response = await live.response(signal);
  const { calls } = answer;
  const said = withIgnored(response, request.metadata, ignored);
  return { kind: "json", body: toChatCompletion(said, { calls }), headers };
}

/** What the request's own words were left out, beside what the model's API had no word for. */
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
  { request, ignored, answer, count }: ParsedChat,
  { caller, signal }: RouteCall,
): Promise<Answer> {
  const asked: AskedChoices = {
    ...{ count, answer, ignored, concurrent: caller.concurrent },
    begin: () => api.create(request, caller),
    tell: (response) => withIgnored(response, request.metadata, ignored),
  };
  if (!request.stream) return { kind: "json", body: await completeChoices(asked, signal) };
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

/** Nothing until there is output: until then a failure has a status of its own. */
async function* writeChunks(
  events: Events,
  answer: Omit<ChatWriterOptions, "model">,
): AsyncGenerator<readonly StreamEvent[]> {
  let writer: ChatWriter | undefined;
  for await (const batch of events) {
    const known = writer ?? createChatWriter({ model: modelOf(batch), ...answer });
    writer = known;
    const frames = batch.flatMap((event) => known.write(event));
    if (frames.length > 0) yield frames.map((frame) => ({ frame }));
  }
}
