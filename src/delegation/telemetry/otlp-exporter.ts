/**
 * Sends signals over OTLP/HTTP as JSON, in batches, without delaying the runs. Loaded only if a collector is named:
 * the libraries take 0.2 s of processor time to load.
 */

import {
  createTraceState,
  type HrTime,
  type Attributes as OtelAttributes,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from "@opentelemetry/api";
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter,
} from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, type ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type CollectorConnections, createCollectorConnections } from "./collector-agent.ts";
import { HISTOGRAMS, type SpanAttributes, SUBAGENT_COUNTER } from "./genai.ts";
import type { OtlpEndpoint, OtlpSettings } from "./otlp-settings.ts";
import type { Signals, Span } from "./signals.ts";
import type { TraceContext } from "./trace-context.ts";

export interface OtlpExporter {
  send(signals: Signals): void;
  count(attributes: SpanAttributes): void;
  /** Sends what is left, for at most `limitMs`. Never rejects. */
  close(limitMs: number): Promise<void>;
}

interface Sender {
  readonly log: Log;
  readonly version: string;
}

export function createOtlpExporter(settings: OtlpSettings, sender: Sender): OtlpExporter {
  const connections = createCollectorConnections(settings.tls);
  const resource = defaultResource().merge(resourceFromAttributes({ ...settings.resource }));
  const parts = { settings, resource, connections, ...sender };
  const spans = createSpanSender(parts);
  const meters = createMeters(parts);
  return {
    send({ spans: ended, measurements }) {
      for (const span of ended) spans?.send(span);
      for (const { histogram, value, attributes } of measurements) {
        meters?.[histogram].record(value, toOtel(attributes));
      }
    },
    count: (attributes) => meters?.subagents.add(1, toOtel(attributes)),
    async close(limitMs) {
      const done = new AbortController();
      const limit = systemClock.sleep(limitMs, done.signal).catch(() => {});
      const flushed = Promise.allSettled([spans?.close(), meters?.close()]);
      await Promise.race([flushed, limit]);
      done.abort();
      connections.close();
    },
  };
}

interface Parts extends Sender {
  readonly settings: OtlpSettings;
  readonly resource: Resource;
  readonly connections: CollectorConnections;
}

interface SpanSender {
  send(span: Span): void;
  close(): Promise<void>;
}

/** Undefined if spans are switched off. */
function createSpanSender({ settings, resource, ...parts }: Parts): SpanSender | undefined {
  const { traces, batch } = settings;
  if (!traces) return undefined;
  const exporter = reporting(new OTLPTraceExporter(toOptions(traces, parts)), "spans", parts.log);
  const processor = new BatchSpanProcessor(exporter, {
    exportTimeoutMillis: traces.timeoutMs,
    ...(batch.delayMs === undefined ? {} : { scheduledDelayMillis: batch.delayMs }),
    ...(batch.maxQueueSize === undefined ? {} : { maxQueueSize: batch.maxQueueSize }),
    ...(batch.maxBatchSize === undefined ? {} : { maxExportBatchSize: batch.maxBatchSize }),
  });
  const scope = { name: "offshoot", version: parts.version };
  return {
    send: (span) => processor.onEnd({ ...toReadable(span), resource, instrumentationScope: scope }),
    close: () => processor.shutdown(),
  };
}

const TEMPORALITIES = {
  cumulative: AggregationTemporalityPreference.CUMULATIVE,
  delta: AggregationTemporalityPreference.DELTA,
  lowmemory: AggregationTemporalityPreference.LOWMEMORY,
} as const;

/** Undefined if metrics are switched off. */
function createMeters({ settings, resource, ...parts }: Parts) {
  const { metrics, temporality, metricsIntervalMs } = settings;
  if (!metrics) return undefined;
  const options = {
    ...toOptions(metrics, parts),
    temporalityPreference: TEMPORALITIES[temporality],
  };
  const reader = new PeriodicExportingMetricReader({
    exporter: reporting(new OTLPMetricExporter(options), "metrics", parts.log),
    ...(metricsIntervalMs === undefined ? {} : { exportIntervalMillis: metricsIntervalMs }),
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  const meter = provider.getMeter("offshoot", parts.version);
  const histogram = ({
    name,
    unit,
    description,
    buckets,
  }: (typeof HISTOGRAMS)[keyof typeof HISTOGRAMS]) =>
    meter.createHistogram(name, {
      unit,
      description,
      advice: { explicitBucketBoundaries: [...buckets] },
    });
  const { name, ...counter } = SUBAGENT_COUNTER;
  return {
    tokens: histogram(HISTOGRAMS.tokens),
    duration: histogram(HISTOGRAMS.duration),
    subagents: meter.createCounter(name, counter),
    close: () => provider.shutdown(),
  };
}

type ExporterOptions = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>;

function toOptions(
  { url, headers, timeoutMs, compression }: OtlpEndpoint,
  { connections, version }: Pick<Parts, "connections" | "version">,
): ExporterOptions {
  return {
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    compression: compression as NonNullable<ExporterOptions["compression"]>,
    httpAgentOptions: (protocol) => connections.open(protocol),
    userAgent: `offshoot/${version}`,
  };
}

/** Logs the first failure to send: a collector that is down fails each time. */
function reporting<
  Exporter extends {
    export(items: never, done: (result: { code: number; error?: Error }) => void): void;
  },
>(exporter: Exporter, what: string, log: Log): Exporter {
  const send = exporter.export.bind(exporter);
  let isTold = false;
  exporter.export = (items, done) => {
    send(items, (result) => {
      if (result.error && !isTold) log.warn(`Could not send ${what}: ${result.error.message}`);
      isTold ||= result.error !== undefined;
      done(result);
    });
  };
  return exporter;
}

const KINDS = {
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
} as const;

function toReadable(span: Span): Omit<ReadableSpan, "resource" | "instrumentationScope"> {
  const { name, context, parent, startMs, endMs, error } = span;
  const duration = toHrTime(endMs - startMs);
  return {
    name,
    kind: KINDS[span.kind],
    spanContext: () => toSpanContext(context),
    ...(parent ? { parentSpanContext: toSpanContext(parent) } : {}),
    startTime: toHrTime(startMs),
    endTime: toHrTime(endMs),
    duration,
    status:
      error === undefined
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: error },
    attributes: toOtel(span.attributes),
    links: span.links.map((link) => ({ context: toSpanContext(link) })),
    events: span.events.map(({ name: event, atMs, attributes }) => ({
      name: event,
      time: toHrTime(atMs),
      attributes: toOtel(attributes),
    })),
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function toSpanContext({ traceId, spanId, isSampled, state }: TraceContext): SpanContext {
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const traceState = state === undefined ? {} : { traceState: createTraceState(state) };
  return { traceId, spanId, traceFlags, ...traceState };
}

/** Seconds and nanoseconds. */
function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1_000_000)];
}

/** The library's type asks for mutable lists, which it does not change. */
function toOtel(attributes: SpanAttributes): OtelAttributes {
  return attributes as OtelAttributes;
}
