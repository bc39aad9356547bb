/**
 * `POST /v1/messages`, for Claude Code and every client of Anthropic's API, on any model: a request of the Responses
 * API in another form. `responses/messages` translates; this file has what HTTP adds.
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
import { checkVersion, toIdHeaders, toMessagesJson } from "../messages-headers.ts";
import type { Route, RouteAnswer, RouteCall, StreamEvent, StreamManners } from "../route.ts";

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
      summary: "Answer a conversation in the form of the Messages API, streamed or not",
      scope: "responses",
      speaks: "messages",
      handle: (call) => answer(parts, call),
    },
    {
      method: "POST",
      path: "/v1/messages/count_tokens",
      summary: "Estimate how many tokens a conversation has, in the form of the Messages API",
      scope: "responses",
      speaks: "messages",
      async handle(call) {
        checkVersion(call.request);
        const body = await call.json();
        api.checkCounts(body);
        return toMessagesJson(await count(parts, body, call));
      },
    },
  ];
}

/** Counts the request after its context edits and, if it has any, also before them. */
async function count(
  { context, upstreamOf }: MessageParts,
  body: unknown,
  { caller }: RouteCall,
): Promise<object> {
  const countOf = async (asked: object): Promise<number> => {
    // A conversation that will be compacted is counted as it was sent.
    const { request } = toCreateResponse({ ...asked, compaction: undefined }, { upstreamOf });
    return (await context.countInput({ ...request, store: undefined }, caller)).input_tokens;
  };
  const given = isJsonObject(body) ? body : {};
  const input_tokens = await countOf(given);
  if (!given["context_management"]) return { input_tokens, context_management: null };
  const original_input_tokens = await countOf({ ...given, context_management: undefined });
  return { input_tokens, context_management: { original_input_tokens } };
}

/** Claude Code sends this header with all requests of one session. */
const SESSION_HEADER = "x-claude-code-session-id";

async function answer(parts: MessageParts, call: RouteCall): Promise<RouteAnswer> {
  checkVersion(call.request);
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
    const message = toMessage(await live.response(call.signal), parsed.answer, parsed.estimate);
    return { kind: "json", body: message, headers: toIdHeaders(live.id) };
  } catch (thrown) {
    await live?.end?.();
    throw toMessagesFailure(toFailure(thrown), parsed);
  }
}

function toStream(live: LiveResponse, parsed: ParsedMessages, signal: AbortSignal): RouteAnswer {
  const { answer } = parsed;
  // An event of the stream has lost most of what the failure says.
  const toError = (told: Failure): object => {
    const error = toMessagesError(toMessagesFailure(live.failure() ?? told, parsed));
    return { ...error, request_id: live.id };
  };
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
    headers: toIdHeaders(live.id),
  };
}

/** A comment would be enough; but clients that watch for silence count events. */
const PING = toFrame({ type: "ping" });

/**
 * Clients try a refused request again by its status, and compact a conversation that is too long, but end the turn at
 * an `error` event. Vendors take some seconds to refuse a long prompt, and our own retries take longer.
 */
const HOLD_MS = 15_000;

function toManners(toError: (failure: Failure) => object): StreamManners {
  return {
    alive: PING,
    holdMs: HOLD_MS,
    done: "",
    toBroken: (failure) => toFrame(toError(failure) as { type: string }),
  };
}

/** Yields nothing before there is output: until then, a failure has a status of its own. */
async function* writeFrames(
  events: Events,
  writer: ReturnType<typeof createMessageWriter>,
): AsyncGenerator<readonly StreamEvent[]> {
  for await (const batch of events) {
    let sse = "";
    for (const event of batch) sse += writer.write(event);
    if (sse !== "") yield [{ sse }];
    if (writer.isAbandoned) return;
  }
}

/**
 * A stored response would continue without its client. This API has no way to return to it, so it ends with its
 * client.
 */
async function* endWithClient(live: LiveResponse, signal: AbortSignal): Events {
  let isEnded = false;
  try {
    yield* live.events(signal);
    isEnded = true;
  } finally {
    if (!isEnded) await live.end?.();
  }
}
