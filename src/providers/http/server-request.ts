/** One small request to a model's server beside the chat: its models, its properties, its health. */

import { type Json, tryParseJson } from "../../base/json.ts";
import type { Timeouts, Transport } from "./transport.ts";

export interface ServerRequest {
  readonly transport: Transport;
  readonly url: string;
  /** Without one it is a GET. */
  readonly body?: Json;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeouts?: Timeouts;
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
  const { status, headers, chunks } = await sendToServer(request);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) break;
  }
  const body = Buffer.concat(pieces).toString("utf8");
  return { status, headers, body, json: tryParseJson(body) };
}

/** The same, with the body as it comes. */
export function sendToServer(request: ServerRequest): ReturnType<Transport["send"]> {
  const { transport, url, body, signal, headers, timeouts = QUESTION_TIMEOUTS } = request;
  return transport.send({
    method: body === undefined ? "GET" : "POST",
    url,
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
    timeouts,
  });
}
