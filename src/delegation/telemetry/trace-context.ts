/**
 * The position of a span in a trace, and how it is passed between processes: `TRACEPARENT`, `TRACESTATE` and
 * `BAGGAGE`, as W3C defines the headers and OpenTelemetry the variables.
 *
 * Ids are made from the run's id and are not random: a run that is resumed elsewhere continues its trace.
 */

import { createHash } from "node:crypto";
import type { Environment } from "../../base/environment.ts";
import { ATTRIBUTES } from "./genai.ts";

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** True if the trace is sent; its first span has decided. */
  readonly isSampled: boolean;
  /** The state of other vendors in the trace, word for word. */
  readonly state: string | undefined;
}

/** The trace context that the process was started with. */
export interface Incoming {
  readonly context: TraceContext | undefined;
  /** The conversation this is part of. */
  readonly conversation: string | undefined;
  readonly baggage: string | undefined;
}

export function toTraceId(runId: string): string {
  return digest(`trace ${runId}`, 32);
}

/** `seq` is the number of the event that opened the span; a run's own span has 0. */
export function toSpanId(runId: string, seq: number): string {
  return digest(`span ${runId} ${seq}`, 16);
}

function digest(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}

export function readIncoming(env: Environment): Incoming {
  const baggage = env["BAGGAGE"] || undefined;
  const entry = baggage
    ?.split(",")
    .map((part) => part.trim().split(";", 1)[0]?.split("=") ?? [])
    .find(([name]) => name?.trim() === ATTRIBUTES.conversation);
  return {
    context: parseTraceparent(env["TRACEPARENT"] ?? "", env["TRACESTATE"]),
    conversation: decode(entry?.[1]?.trim()) || undefined,
    baggage,
  };
}

/** Undefined for an invalid value: the standard treats it as missing. */
export function parseTraceparent(
  text: string,
  state: string | undefined,
): TraceContext | undefined {
  const match = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(
    text.trim(),
  );
  const [, version = "ff", traceId = "", spanId = "", flags = "00", more] = match ?? [];
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, isSampled, state: state?.trim() || undefined };
}

export function encodeTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** The variables for a process that is started below this span. */
export function encodeOutgoing(
  context: TraceContext,
  conversation: string,
  baggage: string | undefined,
): Record<string, string> {
  const others = (baggage ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "" && !part.startsWith(`${ATTRIBUTES.conversation}=`));
  const own = `${ATTRIBUTES.conversation}=${encodeURIComponent(conversation)}`;
  return {
    TRACEPARENT: encodeTraceparent(context),
    ...(context.state === undefined ? {} : { TRACESTATE: context.state }),
    BAGGAGE: [...others, own].join(","),
  };
}

function decode(text = ""): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not percent-encoded after all.
    return text;
  }
}
