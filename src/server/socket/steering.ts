/**
 * `response.steer`: a person's message for a running response. It waits for the response to end and is the input of
 * the next response, which begins by itself. If the response ends with calls that the client must answer, the message
 * is placed before those answers in the turn that brings them.
 */

import { makeId } from "../../base/ids.ts";
import { clip } from "../../base/text.ts";
import type { CreateBody, CreateEvent, SteerEvent } from "./client-event.ts";
import type { Outbox } from "./outbox.ts";
import { type RequiredInput, toRequiredInput } from "./required-input.ts";
import { type SocketTurnEnd, toGiven } from "./turn.ts";
import type { RunningTurn, SocketTurns } from "./turns.ts";

export interface Steering {
  /** Accepts the message, or throws with the reason why not. */
  steer(event: SteerEvent): void;
  /** Called with every turn that has ended. Returns the turn that must follow, if there is one. */
  end(turn: RunningTurn, end: SocketTurnEnd): Successor | undefined;
  /** Returns the turn with the waiting messages before its own input. */
  join(event: CreateEvent): CreateEvent;
}

export interface Successor {
  readonly event: CreateEvent;
  /** Call it if the next turn was not created. */
  fail(): void;
}

export interface SteeringParts {
  readonly turns: SocketTurns;
  readonly outbox: Outbox;
}

interface Steer {
  readonly id: string;
  readonly input: SteerEvent["input"];
}

export function createSteering({ turns, outbox }: SteeringParts): Steering {
  /** By response: those that run, and those that wait for input from their client. */
  const taken = new Map<string, readonly Steer[]>();

  const failAll = (turn: RunningTurn, steers: readonly Steer[], error: SteerError): void => {
    for (const steer of steers) outbox.say(toFailed(turn.responseId, steer, { error, turn }));
  };
  return {
    steer({ previousResponseId, input }) {
      const turn = turns.find(previousResponseId);
      const steers = taken.get(previousResponseId) ?? [];
      const error = turn
        ? findError(turn, input, steers.length)
        : toAbsent(turns, previousResponseId);
      if (error || !turn) {
        outbox.say(toFailed(previousResponseId, { input }, { error: error ?? NOT_ACTIVE, turn }));
        return;
      }
      const steer = { id: makeId("steer"), input };
      taken.set(previousResponseId, [...steers, steer]);
      outbox.say({ type: "response.steer.accepted", ...toPlace(turn, steer) });
    },
    end(turn, end) {
      const steers = taken.get(turn.responseId);
      if (!steers) return undefined;
      const required = toRequired(end);
      if (required && required.length > 0) {
        for (const steer of steers) outbox.say(toPending(turn, steer, required));
        return undefined;
      }
      taken.delete(turn.responseId);
      if (!required) {
        failAll(turn, steers, NOT_ACTIVE);
        return undefined;
      }
      const body = { ...turn.event.body, previous_response_id: turn.responseId };
      const event = { ...turn.event, body: { ...body, input: toInput(steers) } };
      return { event, fail: () => failAll(turn, steers, NO_SUCCESSOR) };
    },
    join(event) {
      const id = event.body["previous_response_id"];
      const steers = typeof id === "string" && !turns.find(id) ? taken.get(id) : undefined;
      if (!steers || typeof id !== "string") return event;
      taken.delete(id);
      const input = putAfterAnswers(toInput([event.body]), toInput(steers));
      return { ...event, body: { ...event.body, input } };
    },
  };
}

/** Models expect the answers to their calls before anything else. */
function putAfterAnswers(given: readonly unknown[], said: readonly unknown[]): unknown[] {
  const isAnswer = (item: unknown): boolean =>
    /_(output|response)$/.test(String((item as { type?: unknown } | null)?.type));
  const at = given.findIndex((item) => !isAnswer(item));
  return at < 0 ? [...given, ...said] : [...given.slice(0, at), ...said, ...given.slice(at)];
}

interface SteerError {
  readonly code: string;
  readonly message: string;
}

const NOT_ACTIVE: SteerError = {
  code: "response_not_active",
  message: "The response ended without an answer that can be continued.",
};

const NO_SUCCESSOR: SteerError = {
  code: "successor_creation_failed",
  message: "The next response could not be created; the error before this event says why.",
};

/** More messages than a person writes while one response runs. */
const MAX_PENDING = 32;

function findError(
  { event }: RunningTurn,
  input: SteerEvent["input"],
  count: number,
): SteerError | undefined {
  if (!isSteerable(event.body)) {
    const message =
      "Responses of a conversation, of several agents or with automatic compaction cannot be steered.";
    return { code: "steering_not_supported", message };
  }
  if (!isInput(input)) {
    const message = "`input` must be a text or messages of the role `user`.";
    return { code: "invalid_input", message };
  }
  if (count < MAX_PENDING) return undefined;
  return {
    code: "too_many_pending_steers",
    message: `${MAX_PENDING} messages wait for this response already.`,
  };
}

function isSteerable({ conversation, multi_agent, context_management }: CreateBody): boolean {
  const isMulti = (multi_agent as { enabled?: unknown } | null | undefined)?.enabled === true;
  return !conversation && !isMulti && !context_management;
}

function isInput(input: SteerEvent["input"]): boolean {
  if (typeof input === "string") return input !== "";
  const isUsers = (item: unknown): boolean => {
    const { type = "message", role } = (item ?? {}) as { type?: unknown; role?: unknown };
    return type === "message" && role === "user";
  };
  return input.length > 0 && input.every(isUsers);
}

function toAbsent(turns: SocketTurns, id: string): SteerError {
  const shown = clip(id, 80);
  if (turns.hasEnded(id)) {
    return { code: "response_already_completed", message: `Response \`${shown}\` has ended.` };
  }
  const message = `No response \`${shown}\` runs on this connection.`;
  return { code: "response_not_found", message };
}

/** The input that the client must send first; undefined for a response that cannot be continued. */
function toRequired(end: SocketTurnEnd): readonly RequiredInput[] | undefined {
  if (!("response" in end)) return undefined;
  const { status, output } = end.response;
  return status === "completed" || status === "incomplete" ? toRequiredInput(output) : undefined;
}

function toInput(said: readonly { readonly input?: unknown }[]): unknown[] {
  return said.flatMap(({ input }) => toGiven(input));
}

interface Failing {
  readonly error: SteerError;
  readonly turn: RunningTurn | undefined;
}

function toFailed(
  responseId: string,
  { id, input }: { readonly id?: string; readonly input: SteerEvent["input"] },
  { error, turn }: Failing,
): object {
  const known = id === undefined ? {} : { id };
  return {
    type: "response.steer.failed",
    steer: { ...known, previous_response_id: responseId, input },
    error: { type: "invalid_request_error", ...error },
    ...toStream(turn),
  };
}

function toPending(turn: RunningTurn, steer: Steer, required: readonly RequiredInput[]): object {
  return {
    type: "response.steer.pending",
    reason: "waiting_for_required_input",
    required_input: required,
    ...toPlace(turn, steer),
  };
}

function toPlace(turn: RunningTurn, { id }: Steer): object {
  return { steer: { id, previous_response_id: turn.responseId }, ...toStream(turn) };
}

/** These events are not part of the response, so they take none of its sequence numbers. */
function toStream(turn: RunningTurn | undefined): object {
  const streamId = turn?.event.streamId;
  return {
    sequence_number: turn?.sequenceNumber ?? 0,
    ...(streamId === undefined ? {} : { stream_id: streamId }),
  };
}
