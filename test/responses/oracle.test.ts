/** What the event writer says, held against the published description and against recordings. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { EmittedEvent } from "../../src/protocol/emitted.ts";
import type { Item } from "../../src/protocol/items.ts";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { responsesWire } from "../../src/providers/responses/wire.ts";
import { checkEvents, faultsOfEvent } from "../conformance/check.ts";
import { findOrderFaults } from "../conformance/event-order.ts";
import { OUT_OF_ORDER, VENDORS_OWN } from "../conformance/known-differences.ts";
import { request } from "../providers/provider-contract.ts";
import {
  decodeBody,
  type Recording,
  readRecordings,
  terminalOf,
  toSseBody,
} from "../providers/recordings.ts";
import {
  answerStart,
  functionCall,
  message,
  reasoning,
  runEnd,
  runFailure,
  runStart,
  toolRun,
  turn,
} from "./logged-run.ts";
import { write } from "./written-events.ts";

/** The kinds of events that OpenAI's description does not allow, each once. */
function unpublished(events: readonly EmittedEvent[]): string[] {
  const kinds = events.flatMap((event) => {
    if (faultsOfEvent("openai", toJson(event)).length === 0) return [];
    return ["item" in event ? `${event.type} ${event.item.type}` : event.type];
  });
  return [...new Set(kinds)];
}

function toJson(event: EmittedEvent): JsonObject {
  return JSON.parse(JSON.stringify(event)) as JsonObject;
}

describe("written events against the published description", () => {
  const call = { call_id: "call_1", name: "read" };
  const custom = { type: "custom_tool_call", call_id: "c", name: "sql", input: "" } as const;
  const refused: Item = {
    type: "message",
    role: "assistant",
    content: [{ type: "refusal", refusal: "No." }],
  };
  const thought: Item = {
    type: "reasoning",
    summary: [],
    content: [{ type: "reasoning_text", text: "Hm" }],
  };
  const citation = {
    type: "url_citation" as const,
    url: "https://x.org",
    title: "X",
    start_index: 0,
    end_index: 1,
  };
  const [start, delta, end] = message(0, "A");
  assert.ok(start && delta && end);
  const cases: Readonly<Record<string, readonly RunEvent[]>> = {
    text: turn(1, answerStart, ...message(0, "Hel", "lo")),
    "text with a citation": turn(
      1,
      start,
      delta,
      { type: "annotation", index: 0, part: 0, annotation: citation },
      end,
    ),
    "reasoning and a call with its result": [
      ...turn(1, ...reasoning(0, "Hm"), ...functionCall(1, call, "{", "}")),
      ...toolRun(call, "one"),
      ...turn(2, ...message(0, "One.")),
    ],
    "reasoning with nothing to show": turn(1, ...reasoning(0)),
    "a chain of thought": turn(
      1,
      { type: "item_start", index: 0, item: { type: "reasoning", summary: [] } },
      { type: "reasoning_delta", index: 0, part: 0, kind: "text", delta: "Hm" },
      { type: "item_end", index: 0, item: thought },
    ),
    "a refusal": turn(
      1,
      { type: "item_start", index: 0, item: { ...refused, content: [] } as Item },
      { type: "refusal_delta", index: 0, part: 0, delta: "No." },
      { type: "item_end", index: 0, item: refused },
    ),
    "a call in free text": turn(
      1,
      { type: "item_start", index: 0, item: custom },
      { type: "arguments_delta", index: 0, delta: "select" },
      { type: "item_end", index: 0, item: { ...custom, input: "select" } },
    ),
    "a cut turn": [
      ...turn(1, ...reasoning(0, "Hm").slice(0, 2), ...message(1, "A").slice(0, 2)).slice(0, -1),
      { type: "run_resume", epoch: 2, at_ms: 0 },
      ...turn(1, ...message(0, "A")),
    ],
  };
  const settings = {
    instructions: "Be brief.",
    temperature: 0.5,
    max_output_tokens: 100,
    think: true,
    format: { type: "json_schema", name: "a", schema: { type: "object" }, strict: true },
  };
  for (const [name, log] of Object.entries(cases)) {
    it(`are all of them valid: ${name}`, () => {
      for (const last of [
        runEnd(),
        runFailure(),
        runEnd({ ending: "max_turns" }),
        runEnd({ ending: "cancelled" }),
      ]) {
        checkEvents(write(runStart(), ...log, last));
        checkEvents(write(runStart(settings), ...log, last));
      }
    });
  }
});

/** A recording as the log of a run of one turn. */
function toRunLog({ lines }: Recording): RunEvent[] {
  const decoder = responsesWire.decoder(request(), {});
  const events: ModelEvent[] = decodeBody(decoder, toSseBody(lines));
  return [runStart(), ...turn(1, ...events), runEnd()];
}

/** Recordings that end in a failure, and so in no output. */
const FAILING: ReadonlySet<string> = new Set([
  "openai-error.1.jsonl",
  "parallel-tool-call-wrapper.1.jsonl",
]);

/**
 * What we write and the server did not: every message's part has `annotations` and `logprobs`, every
 * citation of a page its place, every message and call a status. An item keeps the id it began with, where that server gives it
 * another one at its end.
 */
const CHANGES_IDS: ReadonlySet<string> = new Set(["github-copilot-id-rotation.1.jsonl"]);

function toComparable(name: string): (item: unknown) => unknown {
  return (item) => {
    const copy = structuredClone(item) as Record<string, unknown>;
    if (CHANGES_IDS.has(name)) delete copy["id"];
    if (copy["type"] === "custom_tool_call") copy["status"] ??= "completed";
    if (copy["type"] !== "message") return copy;
    for (const part of copy["content"] as Record<string, unknown>[]) {
      part["logprobs"] ??= [];
      part["annotations"] ??= [];
      for (const cited of part["annotations"] as Record<string, unknown>[]) addPlace(cited);
    }
    return copy;
  };
}

function addPlace(cited: Record<string, unknown>): void {
  if (cited["type"] !== "url_citation") return;
  cited["title"] ??= "";
  cited["start_index"] ??= 0;
  cited["end_index"] ??= 0;
}

describe("recordings through the event writer", () => {
  for (const recording of readRecordings("responses")) {
    const { name } = recording;
    if (FAILING.has(name)) continue;
    it(`end in the server's own output: ${name}`, () => {
      const events = write(...toRunLog(recording));
      const last = events.at(-1);
      assert.ok(last?.type === "response.completed");
      assert.deepEqual(
        last.response.output.map(toComparable(name)),
        terminalOf(recording).output.map(toComparable(name)),
      );
    });

    it(`are as published, but for what the vendor adds: ${name}`, () => {
      assert.deepEqual(unpublished(write(...toRunLog(recording))), VENDORS_OWN[name] ?? []);
    });

    it(`keep to the order of events: ${name}`, () => {
      const faults = findOrderFaults(write(...toRunLog(recording)).map(toJson));
      const expected = OUT_OF_ORDER[name] ?? [];
      assert.equal(faults.length, expected.length, faults.join("\n"));
      for (const [at, fault] of faults.entries()) assert.match(fault, expected[at] ?? /^$/);
    });

    it(`are numbered anew, and the same each time: ${name}`, () => {
      const events = write(...toRunLog(recording));
      assert.deepEqual(
        events.map(({ sequence_number }) => sequence_number),
        events.map((_, at) => at),
      );
      assert.deepEqual(write(...toRunLog(recording)), events);
    });
  }
});
