/** One small request to a model's server beside the chat: for its models, its properties or its health. */

import { type Json, tryParseJson } from "../../base/json.ts";
import type { Timeouts } from "./http-answer.ts";
import { writeBody } from "./request-body.ts";
import type { Transport } from "./transport.ts";

export interface ServerRequest {
  readonly transport: Transport;
  readonly url: string;
  /** Without a body it is a GET. */
  readonly body?: Json;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeouts?: Timeouts;
  /** The most bytes of the answer; if missing, enough for a list of models. */
  readonly maxBytes?: number | "transport";
}

export interface ServerAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: Json | undefined;
}

/** A running server answers such a question at once, even while it loads a model. */
const QUESTION_TIMEOUTS: Timeouts = { connectMs: 5000, firstByteMs: 30_000, idleMs: 30_000 };

/** Far more than a list of a thousand models or a chat template needs. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Resolves with every status. Rejects with a `Failure` if no answer comes. */
export async function askServer(request: ServerRequest): Promise<ServerAnswer> {
  const { maxBytes = MAX_BYTES } = request;
  const answer = await sendToServer({ ...request, maxBytes });
  const { status, headers } = answer;
  const body = await answer.text(Number.POSITIVE_INFINITY);
  return { status, headers, body, json: tryParseJson(body) };
}

/** Sends a request whose body is a stream. */
export async function sendToServer(
  request: ServerRequest,
): Promise<Awaited<ReturnType<Transport["send"]>>> {
  const { transport, url, body, signal, headers, timeouts = QUESTION_TIMEOUTS } = request;
  const { maxBytes = "transport" } = request;
  const written = body === undefined ? undefined : await writeBody(body, "server request");
  return await transport.send({
    method: body === undefined ? "GET" : "POST",
    url,
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body: written,
    signal,
    timeouts,
    maxBytes: maxBytes === "transport" ? undefined : maxBytes,
  });
}
