/**
 * Writes a failure on a socket as one event: the answer that an HTTP request would get, with its status and headers.
 */

import { Failure } from "../../base/failure.ts";
import { toFailureAnswer } from "../failure-answer.ts";

export interface SocketErrorEvent {
  readonly type: "error";
  readonly status: number;
  readonly error: { type: string; code: string; message: string; param: string | null };
  /** `retry-after` and the remaining limits of the key, if they are known. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream_id?: string;
}

export interface ErrorPlace {
  readonly streamId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function toErrorEvent(failure: Failure, place: ErrorPlace = {}): SocketErrorEvent {
  const { status = 500, body, headers: own } = toFailureAnswer(failure, "responses");
  const { error } = body as Pick<SocketErrorEvent, "error">;
  const headers = { ...place.headers, ...own };
  return {
    type: "error",
    status,
    error: { ...error, code: failure.vendorCode ?? error.code },
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(place.streamId === undefined ? {} : { stream_id: place.streamId }),
  };
}

/** Clients open another connection when they get this code. */
export function toLifetimeFailure(lifetimeMs: number): Failure {
  const minutes = Math.round(lifetimeMs / 60_000);
  const message = `This connection has reached its limit of ${minutes} minutes. Open another one.`;
  return new Failure("invalid_request", message, {
    vendorCode: "websocket_connection_limit_reached",
  });
}

export function toStreamsFailure(maxStreams: number): Failure {
  const message = `A connection has at most ${maxStreams} different \`stream_id\`s. Open another one.`;
  return new Failure("invalid_request", message, {
    param: "stream_id",
    vendorCode: "websocket_stream_limit_reached",
  });
}
