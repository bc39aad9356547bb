/** One small request to a model's server beside the chat: its models, its properties, its health. */

import { type Json, tryParseJson } from "../../base/json.ts";
import { writeBody } from "./request-body.ts";
import type { Timeouts, Transport } from "./transport.ts";

export interface ServerRequest {
  readonly transport: Transport;
  readonly url: string;
  /** Without one it is a GET. */
  readonly body?: Json;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeouts?: Timeouts;
  /** Most bytes of the answer; enough for a list of models when left out. */
  readonly maxBytes?: number | "transport";
}

export interface ServerAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** The parsed body; undefined when it is no JSON. */
  readonly json: Json | undefined;
}

/** A server that is alive answers such a question at once, also while it loads a model. */
const QUESTION_TIMEOUTS: Timeouts = { connectMs: 5000, firstByteMs: 30_000, idleMs: 30_000 };

/** Far more than a list of a thousand models, or a chat template, takes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Whatever the status says. Rejects with a `Failure` when there is no answer. */
export async function askServer(request: ServerRequest): Promise<ServerAnswer> {
  const { maxBytes = MAX_BYTES } = request;
  const answer = await sendToServer({ ...request, maxBytes });
  const { status, headers } = answer;
  const body = await answer.text(Number.POSITIVE_INFINITY);
  return { status, headers, body, json: tryParseJson(body) };
}

/** The same, with the body as it comes. */
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
