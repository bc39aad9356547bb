/**
 * `POST /v1/messages`, for Claude Code and every client of Anthropic's API, on any model: a request of the Responses
 * API in other words. `responses/messages` has the words; here is what HTTP adds.
 */

import { type Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";
import type { ResponsesApi } from "../../responses/api/api.ts";
import type { ContextApi } from "../../responses/api/context-api.ts";
import type { OpenedResponses } from "../../responses/api/open-responses.ts";
import type { Events, LiveResponse } from "../../responses/follow/live-response.ts";
import { toMessage } from "../../responses/messages/message-object.ts";
import { createMessageWriter, toFrame } from "../../responses/messages/message-writer.ts";
import { toMessagesFailure } from "../../responses/messages/messages-failure.ts";
import { type ParsedMessages, toCreateResponse } from "../../responses/messages/parse-messages.ts";
import { toMessagesError } from "../failure-answer.ts";
import {
  type Answer,
  type Route,
  type RouteCall,
  type StreamEvent,
  type StreamManners,
  toJson,
} from "../route.ts";

interface MessageParts extends Pick<OpenedResponses, "upstreamOf"> {
  readonly api: ResponsesApi;
  readonly context: ContextApi;
}

export function createMessageRoutes(parts: MessageParts): Route[] {
  const { api } = parts;
  return [
    {
      method: "POST",
      path: "/v1/messages",
      summary: "Answer a conversation in the words of the Messages API, streamed or not",
      scope: "responses",
      speaks: "messages",
      handle: (call) => answer(parts, call),
    },
    {
      method: "POST",
      path: "/v1/messages/count_tokens",
      summary: "Estimate how many tokens a conversation has, in the words of the Messages API",
      scope: "responses",
      speaks: "messages",
      async handle(call) {
        const body = await call.json();
        api.checkCounts(body);
        return toJson(await count(parts, body, call));
      },
    },
  ];
}

/** With the edits of the context made, and, where there are some, without them. */
async function count(
  { context, upstreamOf }: MessageParts,
  body: unknown,
  { caller }: RouteCall,
): Promise<object> {
  const countOf = async (asked: object): Promise<number> => {
    // A conversation that is to be made short is counted as it was sent.
    const { request } = toCreateResponse({ ...asked, compaction: undefined }, { upstreamOf });
    return (await context.countInput({ ...request, store: undefined }, caller)).input_tokens;
  };
  const given = isJsonObject(body) ? body : {};
  const input_tokens = await countOf(given);
  if (!given["context_management"]) return { input_tokens, context_management: null };
  const original_input_tokens = await countOf({ ...given, context_management: undefined });
  return { input_tokens, context_management: { original_input_tokens } };
}

/** Claude Code's, under which it asks for everything of one session. */
const SESSION_HEADER = "x-claude-code-session-id";

async function answer(parts: MessageParts, call: RouteCall): Promise<Answer> {
  const body = await call.json();
  parts.api.checkCounts(body);
  const session = call.request.headers[SESSION_HEADER];
  const asking = {
    upstreamOf: parts.upstreamOf,
    session: typeof session === "string" && session !== "" ? session : undefined,
    summaryOf: (sealed: string) => parts.context.readSummary(sealed, call.caller),
  };
  const parsed = toCreateResponse(body, asking);
  let live: LiveResponse | undefined;
  try {
    live = await parts.api.create(parsed.request, call.caller);
    if (live.asked.stream) return toStream(live, parsed, call.signal);
    const message = toMessage(await live.response(call.signal), parsed.answer);
    return { kind: "json", body: message, headers: toHeaders(live) };
  } catch (thrown) {
    await live?.end?.();
    throw toMessagesFailure(toFailure(thrown), parsed);
  }
}

function toHeaders({ id }: LiveResponse): Record<string, string> {
  return { "request-id": id, "x-request-id": id };
}

function toStream(live: LiveResponse, parsed: ParsedMessages, signal: AbortSignal): Answer {
  const { answer } = parsed;
  const toError = (failure: Failure): object => toMessagesError(toMessagesFailure(failure, parsed));
  const writer = createMessageWriter({ answer, estimate: parsed.estimate, toError });
  const failure = (): Failure | undefined => {
    const failed = live.failure();
    return failed && toMessagesFailure(failed, parsed);
  };
  return {
    kind: "events",
    events: writeFrames(endWithClient(live, signal), writer),
    failure,
    manners: toManners(toError),
    headers: toHeaders(live),
  };
}

/** Comments would do; clients that watch for silence count events. */
const PING = toFrame({ type: "ping" });

function toManners(toError: (failure: Failure) => object): StreamManners {
  return {
    alive: PING,
    done: "",
    toBroken: (failure) => toFrame(toError(failure) as { type: string }),
  };
}

/** Nothing until there is output: until then a failure has a status of its own. */
async function* writeFrames(
  events: Events,
  writer: ReturnType<typeof createMessageWriter>,
): AsyncGenerator<readonly StreamEvent[]> {
  for await (const batch of events) {
    let sse = "";
    for (const event of batch) sse += writer.write(event);
    if (sse !== "") yield [{ sse }];
  }
}

/** A stored response goes on without its client; this API has no way to come back to it, so it ends with it. */
async function* endWithClient(live: LiveResponse, signal: AbortSignal): Events {
  let isEnded = false;
  try {
    yield* live.events(signal);
    isEnded = true;
  } finally {
    if (!isEnded) await live.end?.();
  }
}
