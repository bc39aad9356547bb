/** The fold from logs to spans, all at once. */

import assert from "node:assert/strict";
import { createRunSpans } from "../../src/delegation/telemetry/run-spans.ts";
import type { Measurement, Span } from "../../src/delegation/telemetry/signals.ts";
import { readIncoming } from "../../src/delegation/telemetry/trace-context.ts";
import type { LoggedEvent } from "../../src/protocol/run-events.ts";

export interface Folded {
  readonly spans: readonly Span[];
  readonly measurements: readonly Measurement[];
}

/** The spans and measurements of all events. */
export function fold(logged: readonly LoggedEvent[], env: Record<string, string> = {}): Folded {
  const runs = createRunSpans({ incoming: readIncoming(env), isSampled: () => true });
  const signals = logged.map((one) => runs.observe(one));
  return {
    spans: signals.flatMap(({ spans }) => spans),
    measurements: signals.flatMap(({ measurements }) => measurements),
  };
}

export function find({ spans }: Folded, name: string): Span {
  const span = spans.find((one) => one.name === name);
  assert.ok(span, `no ${name} among ${spans.map((one) => one.name).join(", ")}`);
  return span;
}
