/**
 * `POST /v1/chat/completions`, for the many clients that still speak it: a request of the Responses API
 * in other words, on every provider, of which nothing is stored.
 */

import type { EmittedEvent } from "../../protocol/emitted.ts";
import type { Metadata } from "../../protocol/request.ts";
import type { ResponsesApi } from "../../responses/api.ts";
import { toChatCompletion } from "../../responses/chat/chat-completion.ts";
import { type ChatWriter, createChatWriter } from "../../responses/chat/chat-writer.ts";
import { type ChatAnswer, toCreateResponse } from "../../responses/chat/parse-chat.ts";
import { IGNORED_KEY, withIgnored } from "../../responses/fold/response-settings.ts";
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
    const events = writeChunks(live.events(signal), answer);
    return { kind: "events", events, failure: () => live.failure(), headers };
  }
  const response = await live.response(signal);
  const { calls } = answer;
  const metadata = addIgnored(response.metadata, ignored);
  return { kind: "json", body: toChatCompletion({ ...response, metadata }, { calls }), headers };
}

/** Beside what the model's API had no word for. */
function addIgnored(metadata: Metadata, ignored: readonly string[]): Metadata {
  const known = metadata[IGNORED_KEY]?.split(", ") ?? [];
  return withIgnored(metadata, [...known, ...ignored]);
}

/** Nothing until there is output: until then a failure has a status of its own. */
async function* writeChunks(
  events: Events,
  { includeUsage, calls }: ChatAnswer,
): AsyncGenerator<readonly StreamEvent[]> {
  let writer: ChatWriter | undefined;
  for await (const batch of events) {
    const known = writer ?? createChatWriter({ model: modelOf(batch), includeUsage, calls });
    writer = known;
    const frames = batch.flatMap((event) => known.write(event));
    if (frames.length > 0) yield frames.map((frame) => ({ frame }));
  }
}

/** Of the first batch, which begins with the response. */
function modelOf([first]: readonly EmittedEvent[]): string {
  return first && "response" in first ? first.response.model : "";
}
