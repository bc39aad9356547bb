/**
 * A span for each request, parent of whatever run it begins; below the client's own span where it sent
 * a `traceparent`. Only where OpenTelemetry's variables name a collector.
 */

import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Attributes } from "../../delegation/telemetry/genai.ts";
import { openTelemetry } from "../../delegation/telemetry/open-telemetry.ts";
import type { Telemetry } from "../../delegation/telemetry/telemetry.ts";
import {
  parseTraceparent,
  type TraceContext,
  type Variables,
} from "../../delegation/telemetry/trace-context.ts";
import { runInTrace } from "../../delegation/telemetry/trace-scope.ts";

export interface RequestTracer {
  /** Runs what answers the request; runs that begin inside belong to its span. */
  run<Out>(request: IncomingMessage, work: () => Out): Out;
  traceIdOf(request: IncomingMessage): string | undefined;
  /** Called once, when the answer was sent. */
  end(request: IncomingMessage, answered: Answered): void;
  /** Sends what is left. Never rejects. */
  close(): Promise<void>;
}

export interface Answered {
  /** `POST /v1/responses`; undefined where there is no such route. */
  readonly route: string | undefined;
  readonly status: number;
  /** The response it made or was about. */
  readonly target: string | undefined;
  /** Undefined where the guard did not let it in. */
  readonly tenant: string | undefined;
  readonly keyId: string | undefined;
}

interface TracerParts {
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Undefined where nothing is sent anywhere. */
export async function openRequestTracer(
  env: Variables,
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
        ...{ context, parent, startMs, links: [], events: [], kind: "server" },
        name: route ?? request.method ?? "GET",
        endMs: Math.max(startMs, clock.now()),
        attributes: toAttributes(request, answered),
        error: status >= 500 ? `status ${status}` : undefined,
      });
    },
    close: () => telemetry.close(),
  };
}

/** The names of OpenTelemetry's conventions for HTTP servers; those under `offshoot.` are ours. */
function toAttributes({ method }: IncomingMessage, answered: Answered): Attributes {
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
