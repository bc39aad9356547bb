/**
 * Makes an OpenTelemetry span for each request, the parent of the run that it begins. It is a child of the client's
 * own span if the client sent a `traceparent`. Only if OpenTelemetry's variables name a collector.
 */

import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { Environment } from "../../base/environment.ts";
import type { Log } from "../../base/log.ts";
import type { SpanAttributes } from "../../delegation/telemetry/genai.ts";
import { openTelemetry } from "../../delegation/telemetry/open-telemetry.ts";
import type { Telemetry } from "../../delegation/telemetry/telemetry.ts";
import { parseTraceparent, type TraceContext } from "../../delegation/telemetry/trace-context.ts";
import { runInTrace } from "../../delegation/telemetry/trace-scope.ts";

export interface RequestTracer {
  /** Runs `work`, which answers the request. Runs that begin inside belong to its span. */
  run<Out>(request: IncomingMessage, work: () => Out): Out;
  traceIdOf(request: IncomingMessage): string | undefined;
  /** Called once, when the answer was sent. */
  end(request: IncomingMessage, answered: AnsweredRequest): void;
  /** Sends the remaining spans. Never rejects. */
  close(): Promise<void>;
}

export interface AnsweredRequest {
  /** For example `POST /v1/responses`; undefined if the route does not exist. */
  readonly route: string | undefined;
  readonly status: number;
  /** Id of the response that it made or was about. */
  readonly target: string | undefined;
  /** Undefined if the guard did not admit it. */
  readonly tenant: string | undefined;
  readonly keyId: string | undefined;
}

interface TracerParts {
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Undefined if no collector is set. */
export async function openRequestTracer(
  env: Environment,
  { version, clock, log }: TracerParts,
): Promise<RequestTracer | undefined> {
  const telemetry = await openTelemetry(env, { version, log });
  return telemetry && createRequestTracer(telemetry, clock);
}

interface OpenRequest {
  readonly context: TraceContext;
  readonly parent: TraceContext | undefined;
  readonly startMs: number;
}

export function createRequestTracer(
  telemetry: Pick<Telemetry, "send" | "isSampled" | "close">,
  clock: Clock,
): RequestTracer {
  const open = new WeakMap<IncomingMessage, OpenRequest>();
  return {
    run(request, work) {
      const { traceparent, tracestate } = request.headers;
      const parent = parseTraceparent(String(traceparent ?? ""), toText(tracestate));
      const traceId = parent?.traceId ?? toHex(16);
      const isSampled = telemetry.isSampled(traceId, parent);
      const context = { traceId, spanId: toHex(8), isSampled, state: parent?.state };
      open.set(request, { context, parent, startMs: clock.now() });
      return runInTrace(context, work);
    },
    traceIdOf: (request) => open.get(request)?.context.traceId,
    end(request, answered) {
      const begun = open.get(request);
      if (!begun) return;
      const { context, parent, startMs } = begun;
      const { route, status } = answered;
      telemetry.send({
        context,
        parent,
        startMs,
        links: [],
        events: [],
        kind: "server",
        name: route ?? request.method ?? "GET",
        endMs: Math.max(startMs, clock.now()),
        attributes: toAttributes(request, answered),
        error: status >= 500 ? `status ${status}` : undefined,
      });
    },
    close: () => telemetry.close(),
  };
}

/** Names of OpenTelemetry's conventions for HTTP servers. Names under `offshoot.` are ours. */
function toAttributes({ method }: IncomingMessage, answered: AnsweredRequest): SpanAttributes {
  const { route, status, target, tenant, keyId } = answered;
  return {
    "http.request.method": method ?? "GET",
    "http.response.status_code": status,
    ...(route === undefined ? {} : { "http.route": route.slice(route.indexOf(" ") + 1) }),
    ...(target?.startsWith("resp_") ? { "gen_ai.response.id": target } : {}),
    ...(tenant === undefined ? {} : { "offshoot.tenant": tenant }),
    ...(keyId === undefined ? {} : { "offshoot.key.id": keyId }),
  };
}

function toHex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

function toText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}
