/**
 * Parses what clients send on a socket. `response.create` has the body of `POST /v1/responses` beside its type.
 * Fields that only say how an HTTP answer is sent (`stream`) are accepted and ignored.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";

export type ClientEvent = CreateEvent | InjectEvent | SteerEvent | IgnoredEvent;

export interface CreateEvent {
  readonly type: "response.create";
  /** The body, as for `POST /v1/responses`. */
  readonly body: CreateBody;
  /** The stream of the connection that it belongs to. */
  readonly streamId: string | undefined;
  /** False to prepare the next turn without an answer. */
  readonly generate: boolean;
}

/** Unchecked, except for the fields that the connection itself reads. */
export interface CreateBody {
  readonly [name: string]: unknown;
}

/** More input for a response that runs (the multi-agent beta). */
export interface InjectEvent {
  readonly type: "response.inject";
  readonly responseId: string;
  readonly input: readonly unknown[];
}

/** A steering message for a response that runs. */
export interface SteerEvent {
  readonly type: "response.steer";
  readonly previousResponseId: string;
  readonly input: string | readonly unknown[];
}

/** An event that clients report and that has no effect here. */
export interface IgnoredEvent {
  readonly type: "ignored";
}

/**
 * Rejects with `invalid_request` a value that is not an event or not a known one. `event` is the message as JSON.
 */
export function parseClientEvent(event: unknown): ClientEvent {
  if (!isRecord(event)) throw invalid("A message must be a JSON object with a `type`.", "type");
  switch (event["type"]) {
    case "response.create":
      return toCreate(event);
    case "response.inject":
      return toInject(event);
    case "response.steer":
      return toSteer(event);
    case "response.processed":
      return { type: "ignored" };
    default: {
      const shown = clip(JSON.stringify(event["type"]) ?? "nothing", 80);
      throw invalid(`\`type\` is ${shown}; a message must be \`response.create\`.`, "type");
    }
  }
}

function toCreate(event: Readonly<Record<string, unknown>>): CreateEvent {
  const { type: _, event_id: _id, response, stream_id, generate, ...rest } = event;
  if (stream_id !== undefined && stream_id !== null && !isName(stream_id)) {
    throw invalid("`stream_id` must be a text of 1 to 256 characters.", "stream_id");
  }
  // Some clients put the body in a field of its own, as the realtime API does.
  const body = isRecord(response) ? { ...response, ...rest } : rest;
  return {
    type: "response.create",
    body,
    streamId: isName(stream_id) ? stream_id : undefined,
    generate: (generate ?? body["generate"]) !== false,
  };
}

function toInject({ response_id, input }: Readonly<Record<string, unknown>>): InjectEvent {
  if (!isName(response_id)) throw invalid("`response_id` is missing.", "response_id");
  if (!Array.isArray(input)) throw invalid("`input` must be a list of items.", "input");
  return { type: "response.inject", responseId: response_id, input };
}

function toSteer(event: Readonly<Record<string, unknown>>): SteerEvent {
  const { previous_response_id: id, input } = event;
  if (!isName(id)) throw invalid("`previous_response_id` is missing.", "previous_response_id");
  if (typeof input !== "string" && !Array.isArray(input)) {
    throw invalid("`input` must be a text or a list of messages.", "input");
  }
  return { type: "response.steer", previousResponseId: id, input };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= 256;
}

function invalid(message: string, param: string): Failure {
  return new Failure("invalid_request", message, { param });
}
