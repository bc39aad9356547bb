/**
 * The contract of a route: a row of data and one function. The row says which scope a key needs and what the route
 * answers with. The app checks who asks, bounds what they send and writes the answers.
 *
 * A new route is one file in `routes/` and one line in `routes.ts`.
 */

import type { IncomingMessage } from "node:http";
import type { Failure } from "../base/failure.ts";
import type { EmittedEvent } from "../protocol/emitted.ts";
import type { Caller } from "../responses/tenant/caller.ts";

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** For example `/v1/responses/:id`: a segment with a colon fits any one segment. */
  readonly path: string;
  /** One line for the docs. */
  readonly summary: string;
  /** The scope that a key needs; null if the address is open to all. */
  readonly scope: Scope | null;
  /** Refused if the server asks for no key, because then everyone could use the route. */
  readonly needsKey?: true;
  /**
   * The API whose statuses and fields its failures have, if the route belongs to another API than Responses.
   */
  readonly speaks?: Speaks;
  handle(call: RouteCall): Promise<RouteAnswer>;
}

export type Speaks = "responses" | "chat" | "messages" | "mcp";

/** The scopes that a key can have, one line each. */
export const SCOPES = {
  responses: "Create, read, cancel and delete responses and conversations; make embeddings.",
  files: "Upload, read and delete files, vector stores and containers.",
  models: "List the models that are served.",
  metrics: "Read the server's metrics.",
  runs: "View runs, costs and questions of its tenant; steer, stop, resume and replay runs.",
  approve: "Answer the questions of runs: allow a tool call, or refuse it.",
  admin:
    "View and change what concerns all tenants: keys, budgets, storage, audit, workers, settings.",
} as const;
export type Scope = keyof typeof SCOPES;

export interface RouteCall {
  /** Values of the segments with a colon, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  /** All scopes of the key. If no key is asked for: the scopes that need none. */
  readonly scopes: readonly Scope[];
  /**
   * Counts a request that asks for several answers as this many more requests. Rejects if that is over its key's
   * limit.
   */
  countMore(requests: number): Promise<void>;
  /**
   * Resolves with the reason when its key may no longer do this; with undefined once the signal aborts.
   */
  untilRefused(signal: AbortSignal): Promise<Failure | undefined>;
  /**
   * Reads the body as JSON; call it once. Rejects a body that is too large, too deep, too slow or not JSON.
   */
  json(): Promise<unknown>;
  /** The request itself, for bodies that are not JSON. Its reader must keep to `maxBodyBytes`. */
  readonly request: IncomingMessage;
  /** Aborts when the client has gone away, and with a `Failure` when the server stops and cannot wait. */
  readonly signal: AbortSignal;
  /** A signal that aborts only when the server stops and cannot wait. */
  cutSignal(): AbortSignal;
}

export type RouteAnswer = JsonAnswer | EventsAnswer | BytesAnswer;

export interface JsonAnswer {
  readonly kind: "json";
  readonly status?: number | undefined;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * A stream of server-sent events. A comment keeps it open in silence and `[DONE]` ends it, unless `manners` say
 * otherwise.
 */
export interface EventsAnswer {
  readonly kind: "events";
  /**
   * Batches of events as they come. If it rejects before its first batch, the answer is an error.
   */
  readonly events: AsyncGenerator<readonly StreamEvent[]>;
  /** The reason, if it failed before it had any output: the answer is then that error. */
  failure?(): Failure | undefined;
  /** How the API of the route writes keep-alives, the end and a failure of a stream. */
  readonly manners?: StreamManners | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface StreamManners {
  readonly alive: string;
  /**
   * How long the answer may be held until it has output, if no `alive` is due before. Until then it may become an
   * error with a status, which clients act on better than on an event. It then begins with `alive`.
   */
  readonly holdMs: number;
  readonly done: string;
  toBroken(failure: Failure): string;
}

/** An event of the Responses API, the JSON text of a frame that has no `event:` line, or whole frames. */
export type StreamEvent = EmittedEvent | { readonly frame: string } | WholeFrame;

/** Complete frames, each with its `event:` line and the blank line at its end. */
export interface WholeFrame {
  readonly sse: string;
}

export interface BytesAnswer {
  readonly kind: "bytes";
  /** 200 when left out. */
  readonly status?: number | undefined;
  /** Undefined without a body. */
  readonly type: string | undefined;
  readonly chunks: AsyncIterable<Uint8Array | string>;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function toJson(body: object, status?: number): JsonAnswer {
  return { kind: "json", body, status };
}

/** Reads a body that clients may leave out. */
export async function readOptional({ request: { headers }, json }: RouteCall): Promise<unknown> {
  const isEmpty =
    headers["content-length"] === "0" ||
    (!headers["content-length"] && !headers["transfer-encoding"]);
  return isEmpty ? {} : await json();
}

/**
 * Always offered for saving, never shown: an uploaded file, or one that code wrote, must not run as a page of this
 * server.
 */
export function toDownload(
  chunks: AsyncIterable<Uint8Array>,
  { filename, bytes, type }: { filename: string; bytes: number; type: string },
): BytesAnswer {
  // Code may name files in any way; a lone surrogate cannot be encoded.
  const name = filename.replace(/\p{Cs}/gu, "\ufffd");
  return {
    kind: "bytes",
    type,
    chunks,
    headers: {
      "content-length": String(bytes),
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      "x-content-type-options": "nosniff",
    },
  };
}
