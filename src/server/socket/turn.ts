/**
 * One turn on a socket: admitted as a request of its own, created as `POST /v1/responses` creates it, and sent event
 * by event. A failure is one `error` event, and the connection stays open.
 */

import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import { countJsonChars } from "../../base/json-size.ts";
import type { EmittedEvent, EmittedResponse } from "../../protocol/emitted.ts";
import type { ResponsesApi } from "../../responses/api/api.ts";
import { toUnknownPrevious } from "../../responses/conversations/conversation-before.ts";
import { withGiven } from "../../responses/fold/given-items.ts";
import type { LiveResponse } from "../../responses/follow/live-response.ts";
import { checkMinTokens } from "../../responses/request/check-min-tokens.ts";
import type { Caller } from "../../responses/tenant/caller.ts";
import { toFailureAnswer } from "../failure-answer.ts";
import type { Admitted, Guard } from "../guard.ts";
import type { CreateBody, CreateEvent } from "./client-event.ts";
import { type Context, type Contexts, joinContext, NO_CONTEXT } from "./contexts.ts";
import { toErrorEvent } from "./error-event.ts";
import type { Outbox } from "./outbox.ts";
import { warmUp } from "./warm-up.ts";
import { REQUEST_ID, type WatchSocket } from "./watch-socket.ts";

export interface SocketTurnParts {
  readonly api: ResponsesApi;
  readonly guard: Guard;
  readonly clock: Clock;
  /** The upgrade request, which carries the key. */
  readonly request: IncomingMessage;
  readonly outbox: Outbox;
  readonly contexts: Contexts;
  /**
   * Aborts when the client has gone away, and with a `Failure` when the server ends the turn. A stored response
   * continues after that; others end.
   */
  readonly signal: AbortSignal;
  readonly onDefect: (thrown: unknown) => void;
  readonly watch?: WatchSocket | undefined;
}

export interface SocketTurn {
  readonly event: CreateEvent;
  /** Length of its message. */
  readonly bytes: number;
  /** Called when the response has its id. */
  onBegin(responseId: string, caller: Caller): void;
  /** Called with the number of the last event that was sent. */
  onTold(sequenceNumber: number): void;
}

export type SocketTurnEnd = { readonly response: EmittedResponse } | { readonly failure: Failure };

const PATH = "/v1/responses";
const ROUTE = `POST ${PATH}`;

/** Never rejects. */
export async function runTurn(parts: SocketTurnParts, turn: SocketTurn): Promise<SocketTurnEnd> {
  const requestId = makeId("req");
  const headers: Record<string, string> = { [REQUEST_ID]: requestId };
  const answer = {
    setHeader(name: string, value: string): void {
      headers[name] = value;
    },
  };
  const ended = parts.watch?.({ method: "WS", route: PATH, request: parts.request, requestId });
  let admitted: Admitted | undefined;
  let target: string | undefined;
  let status = 200;
  try {
    admitted = await parts.guard.admit(parts.request, "responses", { route: ROUTE, answer });
    const noted: SocketTurn = {
      ...turn,
      onBegin(id, caller) {
        target = id;
        turn.onBegin(id, caller);
      },
    };
    const { response, failure } = await answerTurn(parts, noted, admitted.caller);
    if (failure) status = toStatus(failure);
    return { response };
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (failure.code === "internal") parts.onDefect(thrown);
    status = toStatus(failure);
    if (!isLeft(parts.signal)) {
      const { streamId } = turn.event;
      parts.outbox.say(toErrorEvent(failure, { streamId, headers }));
      forgetPrevious(parts, turn.event.body);
    }
    return { failure };
  } finally {
    admitted?.done({ route: ROUTE, status, target });
    const { tenant, keyId } = admitted?.caller ?? {};
    ended?.({ status, tenant, keyId, target, isLeft: isLeft(parts.signal) });
  }
}

/** True if the client is gone. When the server ends the turn, the client is still there. */
export function isLeft({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof Failure);
}

function toStatus(failure: Failure): number {
  return toFailureAnswer(failure, "responses").status ?? 500;
}

/** A client whose turn failed sends everything again. The standard requires an error that says so. */
function forgetPrevious(
  { contexts }: SocketTurnParts,
  { previous_response_id: id }: CreateBody,
): void {
  if (typeof id === "string") contexts.forget(id);
}

interface AnsweredTurn {
  readonly response: EmittedResponse;
  /** The reason, if it failed before any output: over HTTP it would be the answer. */
  readonly failure?: Failure | undefined;
}

async function answerTurn(
  parts: SocketTurnParts,
  turn: SocketTurn,
  caller: Caller,
): Promise<AnsweredTurn> {
  const { body, streamId, generate } = turn.event;
  const { outbox, contexts } = parts;
  const { context, isKnown } = findContext(contexts, body);
  const given = toGiven(body["input"]);
  if (!generate) {
    await checkStored(parts.api, context.after, caller);
    const { response, events } = warmUp(body, parts.clock.now());
    contexts.keep(streamId, response.id, joinContext(context, given, turn.bytes));
    await outbox.send(events.map((event) => toSaid(event, { streamId })));
    return { response };
  }
  checkMinTokens(body);
  const live = await parts.api.create(toRequest(body, context, given), caller);
  turn.onBegin(live.id, caller);
  const previous = isKnown && !live.asked.store ? String(body["previous_response_id"]) : undefined;
  const told = await tell(parts, turn, { live, previous });
  const { response } = told;
  if (response.status === "failed") forgetPrevious(parts, body);
  else if (!live.asked.store && !body["conversation"]) {
    const items = [...given, ...withGiven(response.output, live.injected())];
    contexts.keep(streamId, live.id, joinContext(context, items, turn.bytes + told.bytes));
  }
  return { response, failure: live.failure() };
}

/** For a turn without an answer. A turn that answers finds this out by itself. */
async function checkStored(
  api: ResponsesApi,
  id: string | undefined,
  caller: Caller,
): Promise<void> {
  if (id === undefined) return;
  try {
    await api.inputItems(id, caller);
  } catch (thrown) {
    throw toFailure(thrown).code === "not_found" ? toUnknownPrevious(id) : thrown;
  }
}

interface FoundContext {
  readonly context: Context;
  /** True if the response is this connection's own, and not a stored one. */
  readonly isKnown: boolean;
}

function findContext(contexts: Contexts, { previous_response_id: id }: CreateBody): FoundContext {
  if (typeof id !== "string") return { context: NO_CONTEXT, isKnown: false };
  const context = contexts.find(id);
  if (context) return { context, isKnown: true };
  return { context: { ...NO_CONTEXT, after: id }, isKnown: false };
}

/**
 * The input as it was sent, except that a text becomes a message. An invalid input is refused later.
 */
export function toGiven(input: unknown): readonly unknown[] {
  if (Array.isArray(input)) return input;
  return typeof input === "string" ? [{ type: "message", role: "user", content: input }] : [];
}

/**
 * The remembered context stands before the new input. Only this connection has the reasoning of a response that is
 * not stored, so it must be included in the output.
 */
function toRequest(body: CreateBody, { after, items }: Context, given: readonly unknown[]): object {
  const { previous_response_id: _, generate: _generate, ...rest } = body;
  const include = Array.isArray(body["include"]) ? body["include"] : [];
  return {
    ...rest,
    stream: true,
    ...(body["store"] === true ? {} : { include: [...new Set([...include, REASONING])] }),
    ...(after === undefined ? {} : { previous_response_id: after }),
    ...(items.length > 0 ? { input: [...items, ...given] } : {}),
  };
}

const REASONING = "reasoning.encrypted_content";

interface Telling {
  readonly live: LiveResponse;
  /** The requested id, if the request does not name it any more. */
  readonly previous: string | undefined;
}

interface Told {
  readonly response: EmittedResponse;
  /** Approximate size of the event that ended it. */
  readonly bytes: number;
}

async function tell(
  parts: SocketTurnParts,
  turn: SocketTurn,
  { live, previous }: Telling,
): Promise<Told> {
  const { streamId } = turn.event;
  let response: EmittedResponse | undefined;
  let last: object | undefined;
  for await (const batch of live.events(parts.signal)) {
    const failure = live.failure();
    const said = toTold(batch).map((event) => toSaid(event, { streamId, previous, failure }));
    for (const event of batch) if ("response" in event) response = event.response;
    last = said.at(-1) ?? last;
    turn.onTold(batch.at(-1)?.sequence_number ?? 0);
    await parts.outbox.send(said);
  }
  if (response) return { response, bytes: countJsonChars(last) };
  throw toFailure(new Error(`Response ${live.id} has no events.`));
}

/**
 * One message ends a turn on a socket: for a failed turn it is the error, without the response after it.
 */
function toTold(batch: readonly EmittedEvent[]): readonly EmittedEvent[] {
  if (!batch.some(({ type }) => type === "error")) return batch;
  return batch.filter(({ type }) => type !== "response.failed");
}

interface Spelling {
  readonly streamId: string | undefined;
  readonly previous?: string | undefined;
  readonly failure?: Failure | undefined;
}

/** The event as in an HTTP stream, plus the fields that only events of a socket have. */
function toSaid(event: EmittedEvent, { streamId, previous, failure }: Spelling): object {
  const stream = streamId === undefined ? {} : { stream_id: streamId };
  if (event.type === "error") {
    const status = failure ? toStatus(failure) : 500;
    return { ...event, status, ...stream };
  }
  if ("response" in event && previous !== undefined) {
    const response = { ...event.response, previous_response_id: previous };
    return { ...event, response, ...stream };
  }
  return streamId === undefined ? event : { ...event, ...stream };
}
