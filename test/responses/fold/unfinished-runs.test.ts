import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { ChildEvent, RunEvent } from "../../../src/protocol/run-events.ts";
import { createEventWriter } from "../../../src/responses/fold/event-writer.ts";
import {
  functionCall,
  message,
  reasoning,
  runEnd,
  runFailure,
  runStart,
  toolRun,
  turn,
} from "../logged-run.ts";
import { lastResponse, typesOf, write } from "./written-events.ts";

const call = { call_id: "call_1", name: "read" };
const RESUME = { type: "run_resume", epoch: 2, at_ms: 0 } as const;
const TURN = { type: "turn_start", turn: 1, at_ms: 0 } as const;
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

  describe("after a refusal", () => {
    const refusing = (index: number): ModelEvent[] => {
      const item = { type: "message", role: "assistant" } as const;
      const content = [{ type: "refusal" as const, refusal: "No." }];
      return [
        { type: "item_start", index, item: { ...item, content: [] } },
        { type: "refusal_delta", index, part: 0, delta: "No." },
        { type: "item_end", index, item: { ...item, content } },
      ];
    };
    const end = runEnd({ ending: "refused", message: "The model declined to answer." });

    it("is completed: what the model says is its refusal", () => {
      const events = write(runStart(), ...turn(1, ...refusing(0)), end);
      const { status, incomplete_details, completed_at } = lastResponse(events);
      assert.equal(events.at(-1)?.type, "response.completed");
      assert.deepEqual([status, incomplete_details], ["completed", null]);
      assert.notEqual(completed_at, null);
    });

    it("is incomplete where a filter stopped an answer that had begun", () => {
      for (const said of [message(0, "Well"), [...message(0, "Well"), ...refusing(1)]]) {
        const response = lastResponse(write(runStart(), ...turn(1, ...said), end));
        assert.deepEqual(
          [response.status, response.incomplete_details?.reason],
          ["incomplete", "content_filter"],
        );
      }
    });
  });

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
    const log = [
      runStart(),
      { type: "turn_start", turn: 1, at_ms: 0 } as const,
      ...(events as RunEvent[]),
    ];
    const told = [...BEGIN, "output_item.added", ...types, "output_item.done"];

    it(`that was cancelled keeps what it had begun, as incomplete: ${name}`, () => {
      const written = write(...log, runEnd({ ending: "cancelled" }));
      assert.deepEqual(typesOf(written).slice(0, -1), told);
      const [cut] = lastResponse(written).output;
      assert.deepEqual({ ...cut }, { ...cut, status: "incomplete", ...item });
    });

    it(`that was taken over ends what it had begun, and shows nothing of it: ${name}`, () => {
      const written = write(...log, RESUME, runEnd());
      assert.deepEqual(typesOf(written).slice(0, -1), told);
      const done = written.find(({ type }) => type === "response.output_item.done");
      assert.ok(done && "item" in done);
      assert.deepEqual({ ...done.item }, { ...done.item, status: "incomplete", ...item });
      assert.deepEqual(lastResponse(written).output, []);
    });
  }
});

describe("a run that was taken over", () => {
  const half = [TURN, ...(message(0, "Half").slice(0, 2) as RunEvent[])];

  it("continues at the next place and shows only finished work", () => {
    const events = write(runStart(), ...half, RESUME, ...turn(1, ...message(0, "Whole")), runEnd());
    const { output, output_text } = lastResponse(events);
    assert.deepEqual(
      output.map((item) => "status" in item && item.status),
      ["completed"],
    );
    assert.equal(output_text, "Whole");
    const added = events.flatMap((event) =>
      event.type === "response.output_item.added" ? [event.output_index] : [],
    );
    assert.deepEqual(added, [0, 1], "the place of what was abandoned is not given again");
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      [...events.keys()],
    );
  });

  it("has a structured answer that can be parsed", () => {
    const cut = [TURN, ...(message(0, '{"city":"text",').slice(0, 2) as RunEvent[])];
    const whole = turn(1, ...message(0, '{"city":"text","country":"text"}'));
    const writer = createEventWriter({ everything: true });
    for (const event of [runStart(), ...cut, RESUME, ...whole, runEnd()]) writer.write(event);
    const { output_text } = writer.response() ?? assert.fail();
    assert.deepEqual(JSON.parse(output_text), { city: "text", country: "text" });
    assert.doesNotMatch(
      JSON.stringify(writer.said()),
      /"text","/,
      "the next turn is sent one of them",
    );
  });

  it("shows nothing of items that the interrupted turn had finished", () => {
    const thought = reasoning(0, "Hm") as RunEvent[];
    const called = functionCall(1, call, "{}") as RunEvent[];
    const whole = turn(1, ...reasoning(0, "Hm again"), ...message(1, "Whole"));
    const events = write(runStart(), TURN, ...thought, ...called, RESUME, ...whole, runEnd());
    const { output } = lastResponse(events);
    assert.deepEqual(
      output.map(({ type }) => type),
      ["reasoning", "message"],
    );
    assert.match(JSON.stringify(output), /Hm again/);
  });

  it("keeps finished turns, and calls that are made again", () => {
    const [start, end] = toolRun(call, "found");
    const asked = turn(1, ...functionCall(0, call, "{}"));
    const answered = turn(2, ...message(0, "Whole"));
    const events = write(runStart(), ...asked, start, RESUME, start, end, ...answered, runEnd());
    assert.deepEqual(
      lastResponse(events).output.map(({ type }) => type),
      ["function_call", "function_call_output", "message"],
    );
  });

  it("twice shows finished work alone", () => {
    const whole = turn(1, ...message(0, "Whole"));
    const events = write(runStart(), ...half, RESUME, ...half, RESUME, ...whole, runEnd());
    assert.equal(lastResponse(events).output_text, "Whole");
    assert.equal(lastResponse(events).output.length, 1);
  });

  it("and then cancelled keeps the partial work of its last owner alone", () => {
    const again = [TURN, ...(message(0, "Second").slice(0, 2) as RunEvent[])];
    const cancelled = runEnd({ ending: "cancelled" });
    const events = write(runStart(), ...half, RESUME, ...again, cancelled);
    assert.equal(lastResponse(events).output_text, "Second");
  });

  it("passes to the next request what it shows", () => {
    const writer = createEventWriter({ everything: true });
    const log = [runStart(), ...half, RESUME, ...turn(1, ...message(0, "Whole")), runEnd()];
    for (const event of log) writer.write(event);
    assert.deepEqual(writer.said(), writer.response()?.output);
  });

  it("shows nothing abandoned while it continues", () => {
    const writer = createEventWriter();
    for (const event of [runStart(), ...half, RESUME, TURN]) writer.write(event);
    assert.deepEqual([writer.response()?.output, writer.response()?.output_text], [[], ""]);
  });

  it("by an agent of its team shows nothing of what the agent abandoned", () => {
    let seq = 0;
    const say = (event: RunEvent): RunEvent => ({
      type: "child_event",
      child_id: "run_01/a",
      child_seq: seq++,
      agent: "/root/a",
      event: event as ChildEvent["event"],
    });
    const mine = turn(1, ...message(0, "Mine"));
    const agents = [...half, RESUME, ...turn(1, ...message(0, "Whole"))].map(say);
    const events = write(runStart(), ...mine, ...agents, runEnd());
    const texts = JSON.stringify(lastResponse(events).output);
    assert.match(texts, /Mine/);
    assert.match(texts, /Whole/);
    assert.doesNotMatch(texts, /Half/);
  });
});

describe("a stream that cannot continue", () => {
  it("ends with an error in both shapes and one `response.failed`", () => {
    const writer = createEventWriter();
    const log = [runStart(), TURN, ...(message(0, "Half").slice(0, 2) as RunEvent[])];
    const events = log.flatMap((event) => writer.write(event));
    const last = writer.fail(new Failure("store_failed", "disk I/O error at /srv/runs.db"));
    assert.deepEqual(typesOf(last).slice(-2), ["error", "failed"]);
    const told = "The server cannot write its record.";
    const error = last.at(-2);
    assert.ok(error?.type === "error");
    assert.deepEqual([error.code, error.message], ["store_failed", told]);
    assert.deepEqual([error.error.code, error.error.message], ["store_failed", told]);
    const { status, output_text } = lastResponse(last);
    assert.deepEqual([status, output_text], ["failed", "Half"]);
    const numbers = [...events, ...last].map(({ sequence_number }) => sequence_number);
    assert.deepEqual(numbers, [...numbers.keys()]);
    assert.deepEqual(writer.fail(new Failure("internal", "Again.")), [], "once");
  });
});
