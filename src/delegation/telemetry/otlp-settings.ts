/**
 * Reads where telemetry is sent, and under which name, from OpenTelemetry's own variables. Pure. An empty variable
 * counts as not set, as the specification says.
 */

import type { Environment } from "../../base/environment.ts";
import type { TraceContext } from "./trace-context.ts";

export interface OtlpSettings {
  /** Undefined if this kind is switched off. */
  readonly traces: OtlpEndpoint | undefined;
  readonly metrics: OtlpEndpoint | undefined;
  /** The sender: `service.name` and whatever the user adds. */
  readonly resource: Readonly<Record<string, string>>;
  readonly isSampled: (traceId: string, parent: TraceContext | undefined) => boolean;
  readonly temporality: "cumulative" | "delta" | "lowmemory";
  readonly metricsIntervalMs: number | undefined;
  readonly batch: Batch;
  /** Paths of files. */
  readonly tls: { readonly [Name in "ca" | "cert" | "key"]: string | undefined };
}

export interface OtlpEndpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly compression: "gzip" | "none";
}

interface Batch {
  readonly delayMs: number | undefined;
  readonly maxQueueSize: number | undefined;
  readonly maxBatchSize: number | undefined;
}

/** A message to the operator, who set a variable that cannot be used. */
export interface OtlpProblem {
  readonly problem: string;
}

/** The specification's own default. */
const TIMEOUT_MS = 10_000;

/** Undefined if no telemetry is asked for. */
export function readOtlpSettings(
  env: Environment,
  version: string,
): OtlpSettings | OtlpProblem | undefined {
  if (get(env, "SDK_DISABLED")?.toLowerCase() === "true") return undefined;
  const traces = readEndpoint(env, "TRACES");
  const metrics = readEndpoint(env, "METRICS");
  const problem = [traces, metrics].find((one) => one && "problem" in one);
  if (problem && "problem" in problem) return problem;
  if (!traces && !metrics) return undefined;
  return {
    traces: traces as OtlpEndpoint | undefined,
    metrics: metrics as OtlpEndpoint | undefined,
    resource: readResource(env, version),
    isSampled: createSampler(env),
    temporality: readTemporality(env),
    metricsIntervalMs: number(env, "METRIC_EXPORT_INTERVAL"),
    batch: {
      delayMs: number(env, "BSP_SCHEDULE_DELAY"),
      maxQueueSize: number(env, "BSP_MAX_QUEUE_SIZE"),
      maxBatchSize: number(env, "BSP_MAX_EXPORT_BATCH_SIZE"),
    },
    tls: {
      ca: get(env, "EXPORTER_OTLP_CERTIFICATE"),
      cert: get(env, "EXPORTER_OTLP_CLIENT_CERTIFICATE"),
      key: get(env, "EXPORTER_OTLP_CLIENT_KEY"),
    },
  };
}

type Kind = "TRACES" | "METRICS";

function readEndpoint(env: Environment, kind: Kind): OtlpEndpoint | OtlpProblem | undefined {
  const exporters = (get(env, `${kind}_EXPORTER`) ?? "otlp").split(",").map((name) => name.trim());
  if (!exporters.includes("otlp")) return undefined;
  const own = get(env, `EXPORTER_OTLP_${kind}_ENDPOINT`);
  const base = get(env, "EXPORTER_OTLP_ENDPOINT");
  if (own === undefined && base === undefined) return undefined;
  const either = (name: string): string | undefined =>
    get(env, `EXPORTER_OTLP_${kind}_${name}`) ?? get(env, `EXPORTER_OTLP_${name}`);
  if (either("PROTOCOL") === "grpc") {
    return {
      problem: "OTLP over gRPC is not supported: set OTEL_EXPORTER_OTLP_PROTOCOL=http/json.",
    };
  }
  // Only the common address gets the path of the kind; an address for one kind is used as it is.
  const url = own ?? `${base?.replace(/\/$/, "")}/v1/${kind.toLowerCase()}`;
  if (!/^https?:$/.test(protocolOf(url))) {
    return { problem: "The OTLP endpoint is not an http or https address." };
  }
  return {
    url,
    headers: {
      ...parsePairs(get(env, "EXPORTER_OTLP_HEADERS")),
      ...parsePairs(get(env, `EXPORTER_OTLP_${kind}_HEADERS`)),
    },
    timeoutMs: Number(either("TIMEOUT")) || TIMEOUT_MS,
    compression: either("COMPRESSION") === "gzip" ? "gzip" : "none",
  };
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}

function readResource(env: Environment, version: string): Readonly<Record<string, string>> {
  const given = parsePairs(get(env, "RESOURCE_ATTRIBUTES"));
  const name = get(env, "SERVICE_NAME") ?? given["service.name"] ?? "offshoot";
  return { "service.version": version, ...given, "service.name": name };
}

function readTemporality(env: Environment): OtlpSettings["temporality"] {
  const wish = get(env, "EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE")?.toLowerCase();
  return wish === "delta" || wish === "lowmemory" ? wish : "cumulative";
}

/** `OTEL_TRACES_SAMPLER`. A span below another trace follows that trace's decision, if it has one. */
function createSampler(env: Environment): OtlpSettings["isSampled"] {
  const name = get(env, "TRACES_SAMPLER") ?? "parentbased_always_on";
  const share = name.endsWith("always_off") ? 0 : name.endsWith("traceidratio") ? ratio(env) : 1;
  const follows = name.startsWith("parentbased_");
  return (traceId, parent) => (follows && parent ? parent.isSampled : isWithin(traceId, share));
}

function ratio(env: Environment): number {
  const share = number(env, "TRACES_SAMPLER_ARG") ?? 1;
  return share >= 0 && share <= 1 ? share : 1;
}

/** Decides by the last 13 digits, which are random in every trace id: all spans of a trace agree. */
function isWithin(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-13), 16) / 16 ** 13 < share;
}

/** `name=value,name=value`, percent-encoded. */
function parsePairs(text = ""): Record<string, string> {
  const pairs = text.split(",").flatMap((part): [string, string][] => {
    const at = part.indexOf("=");
    const name = part.slice(0, Math.max(at, 0)).trim();
    return name === "" ? [] : [[name, decode(part.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not percent-encoded after all.
    return text;
  }
}

function number(env: Environment, name: string): number | undefined {
  const value = get(env, name);
  return value === undefined || Number.isNaN(Number(value)) ? undefined : Number(value);
}

function get(env: Environment, name: string): string | undefined {
  return env[`OTEL_${name}`]?.trim() || undefined;
}
