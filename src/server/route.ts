/**
 * The contract of a route: a row of data and one function. It says what a key needs to use it and what
 * it answers with; who asks, how much they may send and how answers are written is the app's business.
 *
 * A new route is one file in `routes/` and one line in `routes.ts`.
 */

import type { IncomingMessage } from "node:http";
import type { Failure } from "../base/failure.ts";
import type { EmittedEvent } from "../protocol/emitted.ts";
import type { Caller } from "../responses/tenant/caller.ts";

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** `/v1/responses/:id`: a segment with a colon fits any one segment. */
  readonly path: string;
  /** One line for the docs. */
  readonly summary: string;
  /** What a key must be allowed; null for what anybody may ask. */
  readonly scope: Scope | null;
  /** Refused where the server asks for no key, because then anybody could use it. */
  readonly needsKey?: true;
  /** The API whose statuses and fields its failures have, where there are several. */
  readonly speaks?: Speaks;
  handle(call: RouteCall): Promise<Answer>;
}

export type Speaks = "responses" | "chat" | "messages" | "mcp";

/** What keys may be allowed, one line each. */
export const SCOPES = {
  responses: "Create, read, cancel and delete responses and conversations; make embeddings.",
  files: "Upload, read and delete files, vector stores and containers.",
  models: "List the models that are served.",
  metrics: "Read the server's metrics.",
  runs: "Look at runs, costs and questions of its tenant; steer, stop, resume and replay runs.",
  approve: "Answer the questions of runs: let a tool call go on, or refuse it.",
  admin:
    "Look at and change what is all tenants': keys, budgets, storage, audit, workers, settings.",
} as const;
export type Scope = keyof typeof SCOPES;

export interface RouteCall {
  /** What fits the segments with a colon, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  /** All that its key may do; where no key is asked for, what needs none. */
  readonly scopes: readonly Scope[];
  /** Counts a request that asks for several answers as so many more. Rejects where its key may not have them. */
  countMore(requests: number): Promise<void>;
  /** Resolves with why its key may not do this any more; undefined once the signal aborts. */
  untilRefused(signal: AbortSignal): Promise<Failure | undefined>;
  /** The body as JSON; once. Rejects what is too large, too deep, too slow or no JSON. */
  json(): Promise<unknown>;
  /** The request itself, for bodies that are no JSON. Whoever reads it keeps to `maxBodyBytes`. */
  readonly request: IncomingMessage;
  /** Aborts when the client has gone away, and with a `Failure` when the server stops and cannot wait. */
  readonly signal: AbortSignal;
  /** Aborts in the second case alone. */
  cutSignal(): AbortSignal;
}

export type Answer = JsonAnswer | EventsAnswer | BytesAnswer;

export interface JsonAnswer {
  readonly kind: "json";
  readonly status?: number | undefined;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A stream of server-sent events; a comment keeps it alive in silence, `[DONE]` ends it, unless it says otherwise. */
export interface EventsAnswer {
  readonly kind: "events";
  /** Batches, as they come. One that rejects before its first batch is answered as an error. */
  readonly events: AsyncGenerator<readonly StreamEvent[]>;
  /** Why it failed, where it has and had said nothing before: the answer is that error then. */
  failure?(): Failure | undefined;
  /** How its API says that it is alive, that it has ended, and that it broke off. */
  readonly manners?: StreamManners | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface StreamManners {
  readonly alive: string;
  readonly done: string;
  toBroken(failure: Failure): string;
}

/** An event of the Responses API, the JSON text of a frame that has no `event:` line, or whole frames. */
export type StreamEvent = EmittedEvent | { readonly frame: string } | WholeFrame;

/** Frames as they are sent, each with its `event:` line and the blank line at its end. */
export interface WholeFrame {
  readonly sse: string;
}

export interface BytesAnswer {
  readonly kind: "bytes";
  /** 200 when left out. */
  readonly status?: number | undefined;
  /** Undefined where there is no body. */
  readonly type: string | undefined;
  readonly chunks: AsyncIterable<Uint8Array | string>;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function toJson(body: object, status?: number): JsonAnswer {
  return { kind: "json", body, status };
}

/** The body of a request that clients also send without one. */
export async function readOptional({ request: { headers }, json }: RouteCall): Promise<unknown> {
  const isEmpty =
    headers["content-length"] === "0" ||
    (!headers["content-length"] && !headers["transfer-encoding"]);
  return isEmpty ? {} : await json();
}

/** Always as something to save: what somebody uploaded or somebody's code wrote must not run as a page of this server. */
export function toDownload(
  chunks: AsyncIterable<Uint8Array>,
  { filename, bytes, type }: { filename: string; bytes: number; type: string },
): BytesAnswer {
  // Code names files as it likes; what is not text cannot be encoded.
  const name = filename.replace(/\p{Cs}/gu, "\ufffd");
  return {
    ...{ kind: "bytes", type, chunks },
    headers: {
      "content-length": String(bytes),
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      "x-content-type-options": "nosniff",
    },
  };
}
