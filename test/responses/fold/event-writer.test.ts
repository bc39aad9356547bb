import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedEvent } from "../../../src/protocol/emitted.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { createEventWriter } from "../../../src/responses/fold/event-writer.ts";
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
  USAGE,
} from "../logged-run.ts";
import { lastResponse, typesOf, write } from "./written-events.ts";

/** The events of a run of one turn. */
function answer(...events: readonly ModelEvent[]): EmittedEvent[] {
  return write(runStart(), ...turn(1, answerStart, ...events), runEnd());
}

const call = { call_id: "call_1", name: "read" };
const other = { call_id: "call_2", name: "find" };
const BEGIN = ["created", "in_progress"];

describe("the order of events", () => {
  const text = [
    "content_part.added",
    "output_text.delta",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
  ];
  const refusal: ModelEvent[] = [
    { type: "item_start", index: 0, item: { type: "message", role: "assistant", content: [] } },
    { type: "refusal_delta", index: 0, part: 0, delta: "No." },
    {
      type: "item_end",
      index: 0,
      item: { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
    },
  ];
  const thought: ModelEvent[] = [
    { type: "item_start", index: 0, item: { type: "reasoning", summary: [] } },
    { type: "reasoning_delta", index: 0, part: 0, kind: "text", delta: "Hm" },
    {
      type: "item_end",
      index: 0,
      item: { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm" }] },
    },
  ];
  const custom = { type: "custom_tool_call", call_id: "c", name: "sql", input: "" } as const;
  const freeText: ModelEvent[] = [
    { type: "item_start", index: 0, item: custom },
    { type: "arguments_delta", index: 0, delta: "select" },
    { type: "item_end", index: 0, item: { ...custom, input: "select" } },
  ];
  const cases: readonly [name: string, events: readonly ModelEvent[], types: readonly string[]][] =
    [
      ["text", message(0, "Hel", "lo"), ["output_item.added", ...text, "output_item.done"]],
      [
        "text without a delta",
        message(0),
        [
          "output_item.added",
          "content_part.added",
          "output_text.done",
          "content_part.done",
          "output_item.done",
        ],
      ],
      ["reasoning with nothing to show", reasoning(0), ["output_item.added", "output_item.done"]],
      [
        "reasoning with a summary",
        reasoning(0, "Hm", "."),
        [
          "output_item.added",
          "reasoning_summary_part.added",
          "reasoning_summary_text.delta",
          "reasoning_summary_text.delta",
          "reasoning_summary_text.done",
          "reasoning_summary_part.done",
          "output_item.done",
        ],
      ],
      [
        "a chain of thought",
        thought,
        [
          "output_item.added",
          "content_part.added",
          "reasoning_text.delta",
          "reasoning_text.done",
          "content_part.done",
          "output_item.done",
        ],
      ],
      [
        "a call",
        functionCall(0, call, "{", "}"),
        [
          "output_item.added",
          "function_call_arguments.delta",
          "function_call_arguments.delta",
          "function_call_arguments.done",
          "output_item.done",
        ],
      ],
      [
        "a call in free text",
        freeText,
        [
          "output_item.added",
          "custom_tool_call_input.delta",
          "custom_tool_call_input.done",
          "output_item.done",
        ],
      ],
      [
        "a refusal",
        refusal,
        [
          "output_item.added",
          "content_part.added",
          "refusal.delta",
          "refusal.done",
          "content_part.done",
          "output_item.done",
        ],
      ],
    ];
  for (const [name, events, types] of cases) {
    it(`is that of real streams: ${name}`, () => {
      assert.deepEqual(typesOf(answer(...events)), [...BEGIN, ...types, "completed"]);
    });
  }

  it("keeps two calls that are written side by side apart", () => {
    const [start1, ...rest1] = functionCall(0, call, '{"a"', ":1}");
    const [start2, ...rest2] = functionCall(1, other, "{}");
    assert.ok(start1 && start2 && rest1[0] && rest2[0]);
    const events = answer(start1, start2, rest1[0], ...rest2, ...rest1.slice(1));
    const calls = events.flatMap((event) =>
      "output_index" in event
        ? [`${event.output_index} ${event.type.replace("response.", "")}`]
        : [],
    );
    assert.deepEqual(calls, [
      "0 output_item.added",
      "1 output_item.added",
      "0 function_call_arguments.delta",
      "1 function_call_arguments.delta",
      "1 function_call_arguments.done",
      "1 output_item.done",
      "0 function_call_arguments.delta",
      "0 function_call_arguments.done",
      "0 output_item.done",
    ]);
    assert.deepEqual(
      lastResponse(events).output.map((item) => item.type === "function_call" && item.arguments),
      ['{"a":1}', "{}"],
    );
  });

  it("puts a tool's result after its call, and counts on through the turns", () => {
    const events = write(
      runStart(),
      ...turn(1, ...functionCall(0, call, "{}")),
      ...toolRun(call, "one"),
      ...turn(2, ...message(0, "It says one.")),
      runEnd({ turns: 2 }),
    );
    const places = events.flatMap((event) =>
      event.type === "response.output_item.done" ? [[event.output_index, event.item.type]] : [],
    );
    assert.deepEqual(places, [
      [0, "function_call"],
      [1, "function_call_output"],
      [2, "message"],
    ]);
    assert.deepEqual(
      lastResponse(events).output.map(({ type }) => type),
      ["function_call", "function_call_output", "message"],
    );
  });

  it("closes a part when the next one opens", () => {
    const parts: ModelEvent[] = [
      { type: "item_start", index: 0, item: { type: "message", role: "assistant", content: [] } },
      { type: "text_delta", index: 0, part: 0, delta: "A" },
      { type: "text_delta", index: 0, part: 1, delta: "B" },
      {
        type: "item_end",
        index: 0,
        item: {
          type: "message",
          role: "assistant",
          content: [
            { type: "output_text", text: "A" },
            { type: "output_text", text: "B" },
          ],
        },
      },
    ];
    const one = [
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
    ];
    assert.deepEqual(typesOf(answer(...parts)), [
      ...BEGIN,
      "output_item.added",
      ...one,
      ...one,
      "output_item.done",
      "completed",
    ]);
  });

  it("shows citations where they come", () => {
    const [start, delta, end] = message(0, "A");
    assert.ok(start && delta && end);
    const annotation = {
      type: "url_citation" as const,
      url: "https://x.org",
      title: "X",
      start_index: 0,
      end_index: 1,
    };
    const added: ModelEvent = { type: "annotation", index: 0, part: 0, annotation };
    const events = answer(start, delta, added, added, end);
    const citations = events.filter(({ type }) => type === "response.output_text.annotation.added");
    assert.deepEqual(
      citations.map((event) => "annotation_index" in event && event.annotation_index),
      [0, 1],
    );
  });
});

describe("what events carry", () => {
  it("is numbered from 0 without gaps, a vendor's own events too", () => {
    const opaque: ModelEvent = {
      type: "opaque",
      event: {
        type: "response.web_search_call.searching",
        output_index: 0,
        item_id: "ws_1",
        sequence_number: 99,
      },
    };
    const search = { type: "web_search_call", id: "ws_1", status: "in_progress" } as never;
    const events = write(
      runStart(),
      ...turn(1, ...message(0, "A")),
      ...turn(2, { type: "item_start", index: 0, item: search }, opaque, {
        type: "item_end",
        index: 0,
        item: search,
      }),
      runEnd(),
    );
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, at) => at),
    );
    const passed = events.find(
      ({ type }) => (type as string) === "response.web_search_call.searching",
    );
    assert.deepEqual(passed, {
      type: "response.web_search_call.searching",
      output_index: 1,
      item_id: "ws_1",
      sequence_number: passed?.sequence_number,
    });
  });

  it("is the same for the same log", () => {
    const log = [
      runStart(),
      ...turn(1, ...reasoning(0, "Hm"), ...message(1, "A"), ...functionCall(2, call, "{}")),
      ...toolRun(call, "one"),
      runFailure(),
    ];
    assert.deepEqual(write(...log), write(...log));
  });

  it("is named by ids that hold from an item's start to the response", () => {
    const events = answer(
      ...reasoning(0, "Hm"),
      ...message(1, "A"),
      ...functionCall(2, call, "{}"),
    );
    const ids = lastResponse(events).output.map((item) => "id" in item && item.id);
    assert.equal(new Set(ids).size, 3);
    for (const event of events) {
      if ("item_id" in event) assert.equal(event.item_id, ids[event.output_index]);
      if ("item" in event)
        assert.equal("id" in event.item && event.item.id, ids[event.output_index]);
    }
  });

  it("keeps the first id of an item whose server changes it", () => {
    const [start, delta, end] = message(0, "A");
    assert.ok(start?.type === "item_start" && delta && end?.type === "item_end");
    const events = answer({ ...start, item: { ...start.item, id: "first" } as never }, delta, {
      ...end,
      item: { ...end.item, id: "second" } as never,
    });
    assert.deepEqual(
      lastResponse(events).output.map((item) => "id" in item && item.id),
      ["first"],
    );
  });

  it("is whole at the end: status, text, tokens and time", () => {
    const { id, status, output_text, usage, created_at, completed_at, model } = lastResponse(
      answer(...message(0, "Hel", "lo")),
    );
    assert.deepEqual(
      { id, status, output_text, usage, created_at, completed_at, model },
      {
        id: "resp_01",
        status: "completed",
        output_text: "Hello",
        usage: USAGE,
        created_at: 1_700_000_000,
        completed_at: 1_700_000_003,
        model: "openai/gpt-x",
      },
    );
  });

  it("is known before the end as far as it goes", () => {
    const writer = createEventWriter();
    assert.equal(writer.response(), undefined);
    writer.write(runStart());
    assert.deepEqual([writer.response()?.status, writer.response()?.usage], ["in_progress", null]);
  });
});

describe("probabilities of tokens", () => {
  const LIKELY = "message.output_text.logprobs";
  const token = (text: string) => ({ token: text, logprob: -1, bytes: [], top_logprobs: [] });
  const tokens = ["Hel", "lo"].map(token);
  const likelyAnswer = message(0, "Hel", "lo").map((event): ModelEvent => {
    if (event.type === "text_delta") return { ...event, logprobs: [token(event.delta)] };
    if (event.type !== "item_end") return event;
    const content = [{ type: "output_text" as const, text: "Hello", logprobs: tokens }];
    return { ...event, item: { type: "message", role: "assistant", content } };
  });
  const settings = (...include: string[]) => ({ response: { echo: {}, include, ignored: [] } });
  const told = (events: readonly EmittedEvent[]): unknown[] =>
    events.flatMap((event) => ("logprobs" in event ? [event.logprobs] : []));

  it("comes with each piece of a text and with the whole, where the client asked for it", () => {
    const log = [runStart(settings(LIKELY)), ...turn(1, ...likelyAnswer), runEnd()];
    assert.deepEqual(told(write(...log)), [[tokens[0]], [tokens[1]], tokens]);
  });

  it("do not come unless they were requested", () => {
    const log = [runStart(settings()), ...turn(1, ...likelyAnswer), runEnd()];
    assert.deepEqual(told(write(...log)), [[], [], []]);
  });

  it("is kept of a text that was interrupted", () => {
    const cut = likelyAnswer.slice(0, 2);
    const events = write(runStart(settings(LIKELY)), ...turn(1, ...cut), runEnd());
    assert.deepEqual(told(events), [[tokens[0]], [tokens[0]]]);
    const [item] = lastResponse(events).output;
    const [part] = item?.type === "message" && typeof item.content !== "string" ? item.content : [];
    assert.deepEqual(part?.type === "output_text" && part.logprobs, [tokens[0]]);
  });
});

describe("a fault of the server", () => {
  const message = "The store `/srv/machine/runs.db` could not be written: disk full.";
  const end = runEnd({ ending: "failed", message, error: { code: "store_failed", message } });
  const response = { echo: {}, include: [], ignored: [] };

  it("is reported to a client without details of the machine", () => {
    const events = write(runStart({ response }), end);
    assert.equal(lastResponse(events).error?.message, "The server cannot write its record.");
    assert.doesNotMatch(JSON.stringify(events), /machine/);
  });

  it("is reported to the operator with all details, and so is any other failure", () => {
    assert.equal(lastResponse(write(runStart(), end)).error?.message, message);
    const refused = write(runStart({ response }), runFailure("The key was refused."));
    assert.equal(lastResponse(refused).error?.message, "The key was refused.");
  });
});
