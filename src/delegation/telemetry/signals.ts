/** The data that is sent to a collector: finished spans and measurements. */

import type { HISTOGRAMS, SpanAttributes } from "./genai.ts";
import type { TraceContext } from "./trace-context.ts";

export interface Span {
  readonly name: string;
  /** `client`: another server does the work; `server`: a client asked for it. */
  readonly kind: "internal" | "client" | "server";
  readonly context: TraceContext;
  readonly parent: TraceContext | undefined;
  /** Spans of other traces that it belongs to. */
  readonly links: readonly TraceContext[];
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  readonly events: readonly SpanEvent[];
  /** One line for a person, without anything of the conversation; undefined when it went well. */
  readonly error: string | undefined;
}

export interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: SpanAttributes;
}

export interface Measurement {
  readonly histogram: keyof typeof HISTOGRAMS;
  readonly value: number;
  readonly attributes: SpanAttributes;
}

export interface Signals {
  readonly spans: readonly Span[];
  readonly measurements: readonly Measurement[];
}

export const NO_SIGNALS: Signals = { spans: [], measurements: [] };
