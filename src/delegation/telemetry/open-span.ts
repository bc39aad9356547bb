/** A span while it lasts. */

import type { SpanAttributes } from "./genai.ts";
import type { Span, SpanEvent } from "./signals.ts";
import { type TraceContext, toSpanId } from "./trace-context.ts";

export interface OpenSpan {
  readonly context: TraceContext;
  readonly startMs: number;
  readonly isOpen: boolean;
  add(attributes: SpanAttributes): void;
  event(event: SpanEvent): void;
  /** Called once. Returns the span to send. */
  end(atMs: number, attributes: SpanAttributes, error: string | undefined): Span;
}

interface Opening {
  readonly name: string;
  readonly kind: Span["kind"];
  readonly startMs: number;
  readonly attributes: SpanAttributes;
  /** The span's trace: its parent's, or a new one. */
  readonly trace: Omit<TraceContext, "spanId">;
  readonly parent?: TraceContext | undefined;
  readonly links?: readonly TraceContext[];
}

export function openSpan(runId: string, seq: number, opening: Opening): OpenSpan {
  const { name, kind, startMs, trace, parent, links = [] } = opening;
  const { traceId, isSampled, state } = trace;
  const context: TraceContext = { traceId, spanId: toSpanId(runId, seq), isSampled, state };
  const events: SpanEvent[] = [];
  let attributes = opening.attributes;
  let isOpen = true;
  return {
    context,
    startMs,
    get isOpen() {
      return isOpen;
    },
    add(more) {
      attributes = { ...attributes, ...more };
    },
    event(event) {
      events.push(event);
    },
    end(atMs, more, error) {
      isOpen = false;
      // A clock that was set back must not make a span end before it began.
      const endMs = Math.max(startMs, atMs);
      const all = { ...attributes, ...more };
      return { name, kind, context, parent, links, startMs, endMs, attributes: all, events, error };
    },
  };
}
