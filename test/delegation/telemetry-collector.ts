/** A collector on the loopback: accepts OTLP over HTTP as JSON, and shows what it was sent. */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** What a collector was sent, as OTLP's JSON has it. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: a document with a foreign schema, read by tests.
  readonly body: any;
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Resolves when a client without an answer has gone. */
  readonly abandoned: Promise<void>;
  /** All spans, with their resource and scope. */
  spans(): SentSpan[];
  metric(name: string): SentMetric | undefined;
}

export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly events: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: { readonly name: string; readonly version: string };
}

export interface SentMetric {
  readonly unit: string;
  readonly points: readonly {
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly count: number;
    readonly sum: number;
    readonly bounds: readonly number[];
    readonly value: number;
  }[];
}

/** `answer` returns the status; undefined for a server that never answers. */
export async function startCollector(
  answer: (path: string) => number | undefined = () => 200,
): Promise<Collector> {
  const received: Received[] = [];
  let abandon = (): void => {};
  const abandoned = new Promise<void>((resolve) => {
    abandon = resolve;
  });
  const server = createServer((request, response) => {
    response.once("close", () => {
      if (!response.writableEnded) abandon();
    });
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const path = request.url ?? "";
      const bytes = Buffer.concat(pieces);
      const text = request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
      received.push({ path, headers: request.headers, body: JSON.parse(text.toString()) });
      const status = answer(path);
      if (status === undefined) return;
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    abandoned,
    spans: () => received.flatMap(({ body }) => spansIn(body)),
    metric: (name) => received.flatMap(({ body }) => metricsIn(body, name)).at(-1),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function spansIn(body: Received["body"]): SentSpan[] {
  return (body.resourceSpans ?? []).flatMap(({ resource, scopeSpans }: Received["body"]) =>
    scopeSpans.flatMap(({ scope, spans }: Received["body"]) =>
      spans.map((span: Received["body"]) => ({
        ...span,
        parentSpanId: span.parentSpanId || undefined,
        attributes: toRecord(span.attributes),
        links: span.links ?? [],
        events: (span.events ?? []).map((event: Received["body"]) => ({
          name: event.name,
          attributes: toRecord(event.attributes),
        })),
        resource: toRecord(resource.attributes),
        scope,
      })),
    ),
  );
}

function metricsIn(body: Received["body"], name: string): SentMetric[] {
  return (body.resourceMetrics ?? []).flatMap(({ scopeMetrics }: Received["body"]) =>
    scopeMetrics
      .flatMap(({ metrics }: Received["body"]) => metrics)
      .filter((metric: Received["body"]) => metric.name === name)
      .map(({ unit, histogram, sum }: Received["body"]) => ({
        unit,
        points: (histogram ?? sum).dataPoints.map((point: Received["body"]) => ({
          attributes: toRecord(point.attributes),
          count: Number(point.count),
          sum: point.sum,
          bounds: point.explicitBounds,
          value: Number(point.asInt ?? point.asDouble),
        })),
      })),
  );
}

/** OTLP's list of keys and typed values, as an object. */
function toRecord(attributes: Received["body"] = []): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }: Received["body"]) => [key, toValue(value)]),
  );
}

function toValue(value: Received["body"]): unknown {
  if ("arrayValue" in value) return value.arrayValue.values.map(toValue);
  if ("intValue" in value) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
