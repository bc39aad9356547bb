/**
 * OpenTelemetry of all runs of a process, if OpenTelemetry's variables name a collector. It only
 * watches: no run waits for the collector or fails with it.
 */

import type { Environment } from "../../base/environment.ts";
import type { Log } from "../../base/log.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { SubagentEvent } from "../subagent-events.ts";
import { ATTRIBUTES } from "./genai.ts";
import type { OtlpExporter } from "./otlp-exporter.ts";
import { type OtlpSettings, readOtlpSettings } from "./otlp-settings.ts";
import { createRunSpans } from "./run-spans.ts";
import type { Span } from "./signals.ts";
import { type Incoming, readIncoming, type TraceContext } from "./trace-context.ts";
import { currentTrace } from "./trace-scope.ts";

export interface Telemetry {
  /** Called with every event of every run, in each run's order. */
  observe(logged: LoggedEvent): void;
  /** Sends a finished span of something that is not a run: a request. */
  send(span: Span): void;
  /** True if a trace that begins here is sent; `parent` is the trace that it continues. */
  isSampled(traceId: string, parent: TraceContext | undefined): boolean;
  /** Counts an event of subagents. */
  count(event: SubagentEvent): void;
  /** The variables for the process of a child whose `child_start` was observed. */
  environmentOf(childId: string): Readonly<Record<string, string>>;
  /** Sends what is left, within two seconds. Never rejects. Called once, after the last event. */
  close(): Promise<void>;
}

export interface TelemetryOptions {
  readonly version: string;
  /** Where failures to send are logged. */
  readonly log: Log;
  /** The longest wait of `close`. */
  readonly closeMs: number;
}

/** Undefined if no collector is named, or none that can be used; the log says which. */
export function createTelemetry(
  env: Environment,
  options: TelemetryOptions,
): Telemetry | undefined {
  const settings = readOtlpSettings(env, options.version);
  if (settings === undefined) return undefined;
  if (!("problem" in settings)) return watchRuns(env, settings, options);
  options.log.warn(`No telemetry is sent. ${settings.problem}`);
  return undefined;
}

function watchRuns(
  env: Environment,
  settings: OtlpSettings,
  { version, log, closeMs }: TelemetryOptions,
): Telemetry {
  const given = readIncoming(env);
  const incoming: Incoming = {
    ...given,
    // A run belongs to the request that asked for it, otherwise to the trace of the process that
    // started ours.
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

/** Keeps signals until the exporter is loaded, so that no run waits for that. */
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
