/**
 * Watches requests from outside the app: counts and times them, writes their log lines, makes their spans. A turn on
 * a WebSocket is a request too, and reports itself. Facts that only the app knows (whose key, which route) come from
 * the guard, which all requests pass.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { FailureCode } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import { clip } from "../../base/text.ts";
import type { App } from "../app.ts";
import type { About, Guard } from "../guard.ts";
import { refusalOf } from "../send-answer.ts";
import type { SocketAnswer, WatchSocket } from "../socket/watch-socket.ts";
import type { Registry } from "./metrics.ts";
import type { WriteRecord } from "./request-log.ts";
import type { RequestTracer } from "./request-trace.ts";
import type { RunFacts } from "./run-metrics.ts";

export interface RequestWatch {
  /** Wraps the guard, to learn whom it admitted. */
  watchGuard(guard: Guard): Guard;
  watchApp(app: App): App;
  readonly watchSocket: WatchSocket;
}

interface WatchParts {
  readonly clock: Clock;
  readonly registry: Registry;
  /** Read for each line, because the settings may change. */
  readonly log: () => WriteRecord;
  /** The usage of a response that has ended. */
  readonly factsOf: (responseId: string) => RunFacts | undefined;
  readonly tracer: RequestTracer | undefined;
  /** Number of this process among the workers. */
  readonly worker: number | undefined;
}

interface Notes {
  about?: About;
  tenant?: string;
  keyId?: string | null;
}

/** Seconds: from an answer of the cache to a long run. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

export function createRequestWatch(parts: WatchParts): RequestWatch {
  const { clock, registry, tracer } = parts;
  const notes = new WeakMap<IncomingMessage, Notes>();
  const clients = new WeakMap<IncomingMessage, string>();
  const open = new Set<ServerResponse>();
  let openTurns = 0;
  const record = createRecord(parts);
  showOpen(registry, () => ({ requests: open, turns: openTurns }));

  return {
    watchGuard: (guard) => watchGuard(guard, notes),
    watchApp: (app) => async (request, response) => {
      const startMs = clock.now();
      open.add(response);
      // Right for every answer. Besides, a header set here makes Node keep all headers readable.
      response.setHeader("x-content-type-options", "nosniff");
      response.setHeader(REQUEST_ID, makeId("req"));
      noteClient(clients, request);
      const closed = onceClosed(response);
      const handle = (): Promise<void> => app(request, response);
      await (tracer ? tracer.run(request, handle) : handle());
      await closed;
      open.delete(response);
      const noted = notes.get(request) ?? {};
      record({
        startMs,
        client: clients.get(request),
        traceId: tracer?.traceIdOf(request),
        ...toAsked(request, response, noted),
      });
      tracer?.end(request, toSpanEnd(response, noted));
    },
    watchSocket({ method, route, request, requestId }) {
      const startMs = clock.now();
      openTurns++;
      noteClient(clients, request);
      return (ended) => {
        openTurns--;
        const { tenant, keyId } = notes.get(request) ?? {};
        record({
          tenant,
          keyId,
          ...ended,
          method,
          route: route ?? UNKNOWN,
          startMs,
          traceId: undefined,
          path: route === undefined ? toPath(request.url ?? "") : undefined,
          client: clients.get(request),
          // As over HTTP, where the answer's header names the response that was made.
          requestId: ended.target ?? requestId,
        });
      };
    },
  };
}

/** A socket that has ended no longer knows its address. */
function noteClient(clients: WeakMap<IncomingMessage, string>, request: IncomingMessage): void {
  const { remoteAddress } = request.socket;
  if (remoteAddress !== undefined) clients.set(request, remoteAddress);
}

function toSpanEnd(
  response: ServerResponse,
  { about, tenant, keyId }: Notes,
): Parameters<RequestTracer["end"]>[1] {
  const { statusCode: status } = response;
  const target = about?.target ?? toMade(response);
  return { route: about?.route, status, target, tenant, keyId: keyId ?? undefined };
}

/** `countOpen`: the requests that are on their way, and the turns of WebSockets. */
function showOpen(
  registry: WatchParts["registry"],
  countOpen: () => { readonly requests: ReadonlySet<ServerResponse>; readonly turns: number },
): void {
  registry.gauge("offshoot_open_requests", "Requests that are on their way.", () => {
    const { requests, turns } = countOpen();
    return [{ labels: {}, value: requests.size + turns }];
  });
  registry.gauge("offshoot_open_streams", "Streams that are being sent.", () => {
    const { requests, turns } = countOpen();
    return [{ labels: {}, value: [...requests].filter(isStream).length + turns }];
  });
}

/** A refused request is attributed to the owner of its key too. */
function watchGuard(guard: Guard, notes: WeakMap<IncomingMessage, Notes>): Guard {
  return {
    async admit(request, scope, about = {}) {
      const noted: Notes = { about };
      notes.set(request, noted);
      const onKey: About["onKey"] = ({ id, tenant }) => {
        noted.tenant = tenant;
        noted.keyId = id;
      };
      const admitted = await guard.admit(request, scope, { ...about, onKey });
      noted.tenant = admitted.caller.tenant;
      noted.keyId = admitted.caller.keyId;
      return admitted;
    },
  };
}

/** For an address without a route. */
const UNKNOWN = "unknown";

/** Describes a request whose answer was sent or left. */
function toAsked(
  request: IncomingMessage,
  response: ServerResponse,
  { about, tenant, keyId }: Notes,
): Omit<Asked, "startMs" | "client" | "traceId"> {
  return {
    method: toMethod(request.method ?? "GET"),
    route: about?.route?.slice(about.route.indexOf(" ") + 1) ?? UNKNOWN,
    status: response.statusCode,
    error: refusalOf(response),
    target: about?.target ?? toMade(response),
    isLeft: !response.writableFinished,
    path: about?.route === undefined ? toPath(request.url ?? "") : undefined,
    requestId: idOf(response),
    tenant,
    keyId,
  };
}

function createRecord(parts: WatchParts): (asked: Asked) => void {
  const { clock, registry } = parts;
  const requests = registry.counter("offshoot_requests_total", "Requests, by route and status.");
  const durations = registry.histogram(
    "offshoot_request_duration_seconds",
    "How long requests took, streams to their end.",
    BOUNDS,
  );
  return (asked) => {
    const { method, route, status, startMs, keyId, target, isLeft, traceId } = asked;
    const ms = clock.now() - startMs;
    requests.add({ method, route, status: String(status) });
    durations.observe({ route }, ms / 1000);
    const facts = target === undefined ? undefined : parts.factsOf(target);
    parts.log()({
      time: new Date(startMs).toISOString(),
      method,
      route,
      status,
      error: asked.error,
      ms,
      tenant: asked.tenant,
      target,
      key_id: keyId ?? undefined,
      ...facts,
      cost_usd: facts?.cost_usd ?? undefined,
      left: isLeft ? true : undefined,
      path: asked.path,
      client: asked.client,
      request_id: asked.requestId,
      trace_id: traceId,
      worker: parts.worker,
    });
  };
}

interface Asked extends SocketAnswer {
  readonly method: string;
  readonly route: string;
  readonly startMs: number;
  readonly traceId: string | undefined;
  readonly path?: string | undefined;
  readonly client?: string | undefined;
  readonly requestId?: string | undefined;
  readonly error?: FailureCode | undefined;
}

/** An answer is in progress for a moment after it was written. */
function onceClosed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("close", resolve);
  });
}

function isStream(response: ServerResponse): boolean {
  return String(response.getHeader("content-type") ?? "").startsWith("text/event-stream");
}

/** Id of the thing that was made by a request that names none. */
function toMade(response: ServerResponse): string | undefined {
  const id = idOf(response);
  return id?.startsWith("req_") ? undefined : id;
}

const REQUEST_ID = "x-request-id";

function idOf(response: ServerResponse): string | undefined {
  const id = response.getHeader(REQUEST_ID);
  return typeof id === "string" ? id : undefined;
}

/** Addresses may have any length, and some clients put a key into them. */
const MAX_PATH_CHARS = 200;

function toPath(url: string): string {
  const path = url.split("?", 1)[0] ?? "";
  return clip(path.replace(/(osk|sk)[_-][\w-]+/g, "$1_…"), MAX_PATH_CHARS);
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "DELETE", "OPTIONS", "HEAD"]);

/** Clients may invent other methods. */
function toMethod(method: string): string {
  return METHODS.has(method) ? method : "other";
}
