/** Logs written as the events of the Responses API. */

import assert from "node:assert/strict";
import type { EmittedEvent, EmittedResponse } from "../../../src/protocol/emitted.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { createEventWriter } from "../../../src/responses/fold/event-writer.ts";

export function write(...log: readonly RunEvent[]): EmittedEvent[] {
  const writer = createEventWriter();
  return log.flatMap((event) => writer.write(event));
}

/** The types of the events, without what every one of them begins with. */
export function typesOf(events: readonly EmittedEvent[]): string[] {
  return events.map(({ type }) => type.replace(/^response\./, ""));
}

export function lastResponse(events: readonly EmittedEvent[]): EmittedResponse {
  const last = events.at(-1);
  return last && "response" in last ? last.response : assert.fail("no response at the end");
}
