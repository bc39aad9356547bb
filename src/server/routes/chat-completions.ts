/**
 * `POST /v1/chat/completions`, for the many clients that still speak it: a request of the Responses API
 * in other words, on every provider, of which nothing is stored.
 */

import type { EmittedEvent } from "../../protocol/emitted.ts";
import type { ResponsesApi } from "../../responses/api.ts";
import { toChatCompletion } from "../../responses/chat/chat-completion.ts";
import { isChatParameter } from "../../responses/chat/chat-request.ts";
import {
  type ChatWriter,
  type ChatWriterOptions,
  createChatWriter,
} from "../../responses/chat/chat-writer.ts";
import { toCreateResponse } from "../../responses/chat/parse-chat.ts";
import { tellIgnored } from "../../responses/fold/ignored.ts";
import type { Events } from "../../responses/live-response.ts";
import type { Answer, Route, RouteCall, StreamEvent } from "../route.ts";

export function createChatRoutes(api: ResponsesApi): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/chat/completions",
      summary: "Complete a chat, streamed or not; nothing of it is stored",
      scope: "responses",
      speaks: "chat",
      handle: (call) => complete(api, call),
    },
  ];
}

async function complete(api: ResponsesApi, { json, caller, signal }: RouteCall): Promise<Answer> {
  const { request, ignored, answer } = toCreateResponse(await json());
  const live = await api.create(request, caller);
  const headers = { "x-request-id": live.id };
  if (live.asked.stream) {
    const events = writeChunks(live.events(signal), { ...answer, ignored });
    return { kind: "events", events, failure: () => live.failure(), headers };
  }
  const response = await live.response(signal);
  const { calls } = answer;
  const said = { ...response };
  const { metadata } = live.asked.request;
  const all = [...(response.offshoot?.ignored ?? []), ...ignored];
  tellIgnored(said, metadata ?? {}, all, isChatParameter);
  return { kind: "json", body: toChatCompletion(said, { calls }), headers };
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

/** Of the first batch, which begins with the response. */
function modelOf([first]: readonly EmittedEvent[]): string {
  return first && "response" in first ? first.response.model : "";
}
