import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import {
  functionCall,
  message,
  reasoning,
  runEnd,
  runFailure,
  runStart,
  turn,
} from "./logged-run.ts";
import { lastResponse, typesOf, write } from "./written-events.ts";

const call = { call_id: "call_1", name: "read" };
const BEGIN = ["created", "in_progress"];

describe("a run that did not complete", () => {
  it("that failed says so twice, in both shapes, and then ends", () => {
    const events = write(runStart(), runFailure("The key was refused."));
    const message = "The key was refused.";
    assert.deepEqual(events.at(-2), {
      type: "error",
      code: "server_error",
      message,
      param: null,
      error: { type: "server_error", code: "server_error", message, param: null },
      sequence_number: 2,
    });
    assert.equal(events.at(-1)?.type, "response.failed");
    const { status, error, completed_at } = lastResponse(events);
    assert.deepEqual(
      [status, error, completed_at],
      ["failed", { code: "server_error", message }, null],
    );
  });

  it("that met a busy server says so in the API's words", () => {
    const error = { code: "provider_overloaded", message: "Busy." } as const;
    const events = write(runStart(), runEnd({ ending: "failed", message: "Busy.", error }));
    assert.equal(lastResponse(events).error?.code, "rate_limit_exceeded");
  });

  const endings = [
    ["max_turns", "incomplete", "max_output_tokens"],
    ["budget", "incomplete", "max_output_tokens"],
    ["timeout", "incomplete", "max_output_tokens"],
    ["refused", "incomplete", "content_filter"],
    ["cancelled", "cancelled", undefined],
  ] as const;
  for (const [ending, status, reason] of endings) {
    it(`is ${status} after \`${ending}\``, () => {
      const events = write(runStart(), runEnd({ ending, message: "Why." }));
      const response = lastResponse(events);
      assert.equal(events.at(-1)?.type, "response.incomplete");
      assert.deepEqual([response.status, response.incomplete_details?.reason], [status, reason]);
      assert.equal(response.completed_at, null);
    });
  }

  const cuts: readonly [
    name: string,
    events: readonly ModelEvent[],
    types: readonly string[],
    item: object,
  ][] = [
    [
      "a message",
      message(0, "Hel", "lo").slice(0, 2),
      ["content_part.added", "output_text.delta", "output_text.done", "content_part.done"],
      {
        type: "message",
        content: [{ type: "output_text", text: "Hel", annotations: [], logprobs: [] }],
      },
    ],
    [
      "a call",
      functionCall(0, call, '{"path"', ":1}").slice(0, 2),
      ["function_call_arguments.delta", "function_call_arguments.done"],
      { type: "function_call", arguments: '{"path"' },
    ],
    [
      "a call in free text",
      [
        {
          type: "item_start",
          index: 0,
          item: { type: "custom_tool_call", call_id: "c", name: "sql", input: "" },
        },
        { type: "arguments_delta", index: 0, delta: "sel" },
      ],
      ["custom_tool_call_input.delta", "custom_tool_call_input.done"],
      { type: "custom_tool_call", input: "sel" },
    ],
    [
      "reasoning",
      reasoning(0, "Hm", ".").slice(0, 2),
      [
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
      ],
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
    ],
    [
      "a vendor's tool",
      [
        {
          type: "item_start",
          index: 0,
          item: { type: "web_search_call", id: "ws_1", status: "searching" } as never,
        },
      ],
      [],
      { type: "web_search_call", id: "ws_1", status: "failed" },
    ],
  ];
  for (const [name, events, types, item] of cuts) {
    it(`ends what it had begun as incomplete, all of it: ${name}`, () => {
      for (const next of [
        [{ type: "run_resume", epoch: 2, at_ms: 0 } as const, runEnd()],
        [runEnd({ ending: "cancelled" })],
      ]) {
        const log = [
          runStart(),
          { type: "turn_start", turn: 1, at_ms: 0 } as const,
          ...(events as RunEvent[]),
        ];
        const written = write(...log, ...next);
        assert.deepEqual(typesOf(written).slice(0, -1), [
          ...BEGIN,
          "output_item.added",
          ...types,
          "output_item.done",
        ]);
        const [cut] = lastResponse(written).output;
        assert.deepEqual({ ...cut }, { ...cut, status: "incomplete", ...item });
      }
    });
  }

  it("goes on behind a cut at the next place", () => {
    const events = write(
      runStart(),
      { type: "turn_start", turn: 1, at_ms: 0 },
      ...(message(0, "Half").slice(0, 2) as RunEvent[]),
      { type: "run_resume", epoch: 2, at_ms: 0 },
      ...turn(1, ...message(0, "Whole")),
      runEnd(),
    );
    const { output } = lastResponse(events);
    assert.deepEqual(
      output.map((item) => "status" in item && item.status),
      ["incomplete", "completed"],
    );
  });
});
