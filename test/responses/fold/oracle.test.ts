/** The events of the event writer, compared with the published description. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { checkEvents } from "../../conformance/check.ts";
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
} from "../logged-run.ts";
import { write } from "./written-events.ts";

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
        const takenOver = log.some(({ type }) => type === "run_resume");
        checkEvents(write(runStart(), ...log, last), { takenOver });
        checkEvents(write(runStart(settings), ...log, last), { takenOver });
      }
    });
  }
});
