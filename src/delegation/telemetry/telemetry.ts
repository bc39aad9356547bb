/**
 * OpenTelemetry of all runs of a process, where OpenTelemetry's variables name a collector. It only
 * watches: whatever becomes of the collector, no run waits for it or fails with it.
 */

import type { Log } from "../../base/log.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { SubagentEvent } from "../subagent-events.ts";
import { ATTRIBUTES } from "./genai.ts";
import type { OtlpExporter } from "./otlp-exporter.ts";
import { type OtlpSettings, readOtlpSettings } from "./otlp-settings.ts";
import { createRunSpans } from "./run-spans.ts";
import type { Span } from "./signals.ts";
import { type Incoming, readIncoming, type TraceContext, type Variables } from "./trace-context.ts";
import { currentTrace } from "./trace-scope.ts";

export interface Telemetry {
  /** Told of every event of every run, in each run's order. */
  observe(logged: LoggedEvent): void;
  /** Sends a span that is over, of something that is no run: a request. */
  send(span: Span): void;
  /** Whether a trace that begins here is sent; `parent` is what it goes on from. */
  isSampled(traceId: string, parent: TraceContext | undefined): boolean;
  /** Told of what happens to subagents; it is counted. */
  count(event: SubagentEvent): void;
  /** The variables for the process of a child whose `child_start` was observed. */
  environmentOf(childId: string): Readonly<Record<string, string>>;
  /** Sends what is left, within two seconds. Never rejects. Called once, after the last event. */
  close(): Promise<void>;
}

export interface TelemetryOptions {
  readonly version: string;
  /** Where it is said that something cannot be sent. */
  readonly log: Log;
  /** Longest wait of `close`. */
  readonly closeMs: number;
}

/** Undefined where no collector is named, or none that can be talked to, which the log says. */
export function createTelemetry(env: Variables, options: TelemetryOptions): Telemetry | undefined {
  const settings = readOtlpSettings(env, options.version);
  if (settings === undefined) return undefined;
  if (!("problem" in settings)) return watchRuns(env, settings, options);
  options.log.warn(`No telemetry is sent. ${settings.problem}`);
  return undefined;
}

function watchRuns(
  env: Variables,
  settings: OtlpSettings,
  { version, log, closeMs }: TelemetryOptions,
): Telemetry {
  const given = readIncoming(env);
  const incoming: Incoming = {
    ...given,
    // A run goes on below the request that asked for it, else below whoever started the process.
    get context() {
      return currentTrace() ?? given.context;
    },
  };
  const runs = createRunSpans({ incoming, isSampled: settings.isSampled });
  const outbox = createOutbox(
    import("./otlp-exporter.ts").then((otlp) =>
      otlp.createOtlpExporter(settings, { log, version }),
    ),
    log,
  );
  return {
    observe(logged) {
      const signals = runs.observe(logged);
      if (signals.spans.length + signals.measurements.length === 0) return;
      outbox.put((exporter) => exporter.send(signals));
    },
    send(span) {
      if (!span.context.isSampled) return;
      outbox.put((exporter) => exporter.send({ spans: [span], measurements: [] }));
    },
    isSampled: settings.isSampled,
    count({ event }) {
      outbox.put((exporter) => exporter.count({ [ATTRIBUTES.subagent_event]: event }));
    },
    environmentOf: (childId) => runs.environmentOf(childId),
    close: () => outbox.close(closeMs),
  };
}

type Sending = (exporter: OtlpExporter) => void;

/** Keeps what is to be sent until the exporter is loaded, so that no run waits for that. */
function createOutbox(
  loading: Promise<OtlpExporter>,
  log: Log,
): { put(sending: Sending): void; close(limitMs: number): Promise<void> } {
  let waiting: Sending[] | undefined = [];
  let exporter: OtlpExporter | undefined;
  const loaded = loading
    .then((opened) => {
      for (const sending of waiting ?? []) sending(opened);
      exporter = opened;
    })
    .catch((thrown: unknown) => log.warn(`No telemetry is sent. ${String(thrown)}`))
    .finally(() => {
      waiting = undefined;
    });
  return {
    put(sending) {
      if (exporter) sending(exporter);
      else waiting?.push(sending);
    },
    async close(limitMs) {
      await loaded;
      await exporter?.close(limitMs);
    },
  };
}
