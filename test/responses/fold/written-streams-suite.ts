/** Streams of the Responses API, decoded, logged and written again as the events that our server sends. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { EmittedEvent } from "../../../src/protocol/emitted.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { responsesWire } from "../../../src/providers/responses/wire.ts";
import { faultsOfEvent } from "../../conformance/check.ts";
import { findOrderFaults } from "../../conformance/event-order.ts";
import { request } from "../../providers/provider-contract.ts";
import type { StreamFacts } from "../../providers/responses/stream-facts.ts";
import { saidItems } from "../../providers/responses/stream-suite.ts";
import { decodeBody, type Stream, toSseBody } from "../../providers/streams.ts";
import { runEnd, runStart, turn } from "../logged-run.ts";
import { write } from "./written-events.ts";

/** Checks for every stream whose answer was completed, of every sender. */
export function describeWrittenStreams(
  title: string,
  streams: readonly Stream[],
  { failing, changesIds, unpublished, outOfOrder }: StreamFacts,
): void {
  describe(title, () => {
    for (const stream of streams) {
      const { name } = stream;
      if (failing[name] !== undefined) continue;
      it(`end in the server's own output: ${name}`, () => {
        const last = write(...toRunLog(stream)).at(-1);
        assert.ok(last?.type === "response.completed");
        const toComparable = changesIds.includes(name) ? withoutId : withDefaults;
        assert.deepEqual(
          last.response.output.map(toComparable),
          saidItems(stream).map(toComparable),
        );
      });

      it(`are as published, except for what the vendor adds: ${name}`, () => {
        const found = unpublishedIn(write(...toRunLog(stream)));
        assert.deepEqual(found, unpublished[name] ?? []);
      });

      it(`keep to the order of events: ${name}`, () => {
        const faults = findOrderFaults(write(...toRunLog(stream)).map(toJson));
        const expected = outOfOrder[name] ?? [];
        assert.equal(faults.length, expected.length, faults.join("\n"));
        for (const [at, fault] of faults.entries()) assert.match(fault, expected[at] ?? /^$/);
      });

      it(`are numbered from 0, and the same each time: ${name}`, () => {
        const events = write(...toRunLog(stream));
        assert.deepEqual(
          events.map(({ sequence_number }) => sequence_number),
          events.map((_, at) => at),
        );
        assert.deepEqual(write(...toRunLog(stream)), events);
      });
    }
  });
}

/** A stream as the log of a run of one turn. */
function toRunLog({ lines }: Stream): RunEvent[] {
  const decoder = responsesWire.decoder(request(), {});
  return [runStart(), ...turn(1, ...decodeBody(decoder, toSseBody(lines))), runEnd()];
}

/** We keep the id that an item began with. */
function withoutId(item: object): object {
  const { id: _, ...rest } = withDefaults(item) as Record<string, unknown>;
  return rest;
}

/**
 * Fields that we write and the server may have left out: every part of a message has `annotations` and `logprobs`,
 * every citation of a page its place, every call in free text a status.
 */
function withDefaults(item: object): object {
  const copy = structuredClone(item) as Record<string, unknown>;
  if (copy["type"] === "custom_tool_call") copy["status"] ??= "completed";
  if (copy["type"] !== "message") return copy;
  for (const part of copy["content"] as Record<string, unknown>[]) {
    part["logprobs"] ??= [];
    part["annotations"] ??= [];
    for (const cited of part["annotations"] as Record<string, unknown>[]) addPlace(cited);
  }
  return copy;
}

function addPlace(cited: Record<string, unknown>): void {
  if (cited["type"] !== "url_citation") return;
  cited["title"] ??= "";
  cited["start_index"] ??= 0;
  cited["end_index"] ??= 0;
}

/** The kinds of events that OpenAI's description does not allow, each once. */
function unpublishedIn(events: readonly EmittedEvent[]): string[] {
  const kinds = events.flatMap((event) => {
    if (faultsOfEvent("openai", toJson(event)).length === 0) return [];
    return ["item" in event ? `${event.type} ${event.item.type}` : event.type];
  });
  return [...new Set(kinds)];
}

function toJson(event: EmittedEvent): JsonObject {
  return JSON.parse(JSON.stringify(event)) as JsonObject;
}
