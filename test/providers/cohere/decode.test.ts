import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { toUsage } from "../../../src/protocol/usage.ts";
import { createDecoder } from "../../../src/providers/cohere/decode.ts";
import { assertEventOrder } from "../event-order.ts";
import { request, WEATHER } from "../provider-contract.ts";
import { assertDeltas } from "../said-deltas.ts";
import { decodeAll, decodeBody, endOf, itemsOf, readOwnStreams, toSseBody } from "../streams.ts";

const { streams, answers } = readOwnStreams("cohere");
const FAILS = /error|timeout/;

const linesOf = (name: string): readonly string[] =>
  streams.find((stream) => stream.name === `${name}.jsonl`)?.lines ?? assert.fail(name);

function decode(...lines: readonly (object | string)[]): ModelEvent[] {
  const events = decodeAll(createDecoder(request()), ...lines);
  assertEventOrder(events);
  assertDeltas(events);
  return events;
}

const thought = (text: string): Item => ({
  type: "reasoning",
  summary: [],
  content: [{ type: "reasoning_text", text }],
});
const plan = (text: string): Item => ({
  type: "reasoning",
  summary: [{ type: "summary_text", text }],
});
const said = (text: string, more: object = {}): Item => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
  ...more,
});
const call = (call_id: string, name: string, args: string): Item => ({
  type: "function_call",
  call_id,
  name,
  arguments: args,
  status: "completed",
});

/** The items of each stream and answer. */
const ITEMS: Readonly<Record<string, readonly Item[]>> = {
  "text.jsonl": [said("Fjords are drowned valleys – über 1000 m deep 🌊")],
  "thinking-before-text.jsonl": [
    thought("Seven boxes, six apples each."),
    said("There are 42 apples."),
  ],
  "plan-before-two-calls.jsonl": [
    plan("I will look up both harbours."),
    call("tide_table_q1w2e3", "tide_table", '{"harbour": "Bergen"}'),
    call("tide_table_r4t5y6", "tide_table", '{"harbour": "Køge"}'),
  ],
  "thinking-before-a-call.jsonl": [
    thought("The user wants the tide."),
    call("tide_table_u7i8o9", "tide_table", '{"harbour":"Oban"}'),
  ],
  "call-without-arguments.jsonl": [
    plan("I will ask the clock."),
    call("clock_a1b2c3", "clock", "{}"),
  ],
  "thought-that-cites.jsonl": [thought("The table says 90 cm."), said("Ninety.")],
  "text-that-reached-the-limit.jsonl": [said("Once upon a tide", { status: "incomplete" })],
  "text-that-met-a-stop-sequence.jsonl": [said("One, two")],
  "whole-text.json": [said("Fjords are drowned valleys.")],
  "whole-thinking-and-call.json": [
    thought("The user wants the tide."),
    call("tide_table_u7i8o9", "tide_table", '{"harbour":"Oban"}'),
  ],
  "whole-plan-and-call-without-arguments.json": [
    plan("I will ask the clock."),
    call("clock_a1b2c3", "clock", "{}"),
  ],
};

describe("streams of cohere", () => {
  for (const { name, lines } of streams.filter((stream) => !FAILS.test(stream.name))) {
    it(`decode to the same events however they are split: ${name}`, () => {
      const body = toSseBody(lines);
      const events = decodeBody(createDecoder(request()), body);
      assertEventOrder(events);
      assertDeltas(events);
      for (const pieceBytes of [1, 2, 7, 64]) {
        const cut = decodeBody(createDecoder(request()), body, pieceBytes);
        assert.deepEqual(cut, events, `${pieceBytes}`);
      }
      const done = toSseBody([...lines, "[DONE]"]);
      assert.deepEqual(decodeBody(createDecoder(request()), done), events);
    });

    it(`never end quietly if they are interrupted: ${name}`, () => {
      for (let count = 0; count < lines.length; count++) {
        assert.throws(() => decodeAll(createDecoder(request()), ...lines.slice(0, count)), {
          code: "provider_broke_protocol",
          message: /no `message-end` came/,
        });
      }
    });
  }

  const all = [...streams, ...answers.map(({ name, body }) => ({ name, lines: [body] }))];
  for (const [name, items] of Object.entries(ITEMS)) {
    it(`keep all of their text: ${name}`, () => {
      const { lines } = all.find((stream) => stream.name === name) ?? assert.fail(name);
      const payloads = lines.map((line) => JSON.parse(line) as object);
      assert.deepEqual(itemsOf(decode(...payloads)), items);
    });
  }

  it("say how they ended", () => {
    const reasonOf = (name: string) => endOf(decode(...linesOf(name))).reason;
    assert.equal(reasonOf("text"), "stop");
    assert.equal(reasonOf("text-that-met-a-stop-sequence"), "stop");
    assert.equal(reasonOf("text-that-reached-the-limit"), "length");
    assert.equal(reasonOf("call-that-reached-the-limit"), "length");
    assert.equal(reasonOf("plan-before-two-calls"), "tool_calls");
  });

  it("distinguish a plan, which is for the reader, from reasoning", () => {
    const kindsOf = (name: string): unknown[] =>
      decode(...linesOf(name)).flatMap((event) => ("kind" in event ? [event.kind] : []));
    assert.deepEqual(kindsOf("plan-before-two-calls"), ["summary", "summary", "summary"]);
    assert.deepEqual(kindsOf("thinking-before-a-call"), ["text", "text"]);
  });

  it("keep a call that the limit truncated as incomplete", () => {
    const [, cut] = itemsOf(decode(...linesOf("call-that-reached-the-limit")));
    assert.equal(cut?.type === "function_call" && cut.status, "incomplete");
  });

  it("count all tokens, including those that are not billed", () => {
    const { usage } = endOf(decode(...linesOf("text")));
    const counts = { input: 900, cached: 832, output: 20 };
    assert.deepEqual(usage, toUsage({ ...counts, unbilledInput: 888, unbilledOutput: 2 }));
  });

  it("count the billed tokens if the server sends nothing else", () => {
    const usage = { billed_units: { input_tokens: 7, output_tokens: 3 } };
    const end = { type: "message-end", delta: { finish_reason: "COMPLETE", usage } };
    assert.deepEqual(endOf(decode(text("Hi."), end)).usage, toUsage({ input: 7, output: 3 }));
  });
});

describe("the citations of an answer", () => {
  const annotationsOf = (events: readonly ModelEvent[]) =>
    events.flatMap((event) => (event.type === "annotation" ? [event.annotation] : []));

  it("is a document, before the text has ended", () => {
    const cited = [
      {
        type: "file_citation",
        file_id: "doc:0",
        filename: "harbours.txt",
        start_index: 13,
        end_index: 24,
      },
    ];
    const events = decode(...linesOf("text-that-cites-a-document"));
    assert.deepEqual(annotationsOf(events), cited);
    const [message] = itemsOf(events);
    const content = message?.type === "message" ? message.content : [];
    assert.deepEqual(content, [
      { type: "output_text", text: "Bergen has a small range.", annotations: cited },
    ]);
  });

  it("is an address or a tool's result, after the text, which is counted in characters there", () => {
    const events = decode(...linesOf("text-that-cites-behind-its-end"));
    const text = "🌊 Not only in Bergen: the range is 90 cm in Bergen.";
    const spans = annotationsOf(events).map((cited) => [cited.start_index, cited.end_index]);
    const spanOf = (cited: string): number[] => {
      const at = text.lastIndexOf(cited);
      return [at, at + cited.length];
    };
    assert.deepEqual(spans, ["90 cm", "90 cm", "Bergen"].map(spanOf));
    assert.deepEqual(
      annotationsOf(events).map((cited) =>
        cited.type === "url_citation" ? cited.url : cited.type,
      ),
      ["file_citation", "https://example.org/tides", "file_citation"],
    );
  });

  it("is left out if it belongs to reasoning", () => {
    assert.deepEqual(annotationsOf(decode(...linesOf("thought-that-cites"))), []);
  });

  it("is in an answer that comes whole", () => {
    const { body } = answers.find(({ name }) => name.includes("cites")) ?? assert.fail();
    assert.equal(annotationsOf(decode(JSON.parse(body) as object)).length, 1);
  });
});

describe("answers of cohere that fail", () => {
  it("fail with the server's reason, and its counts so far", () => {
    const decoder = createDecoder(request());
    const failing = (): unknown => decodeAll(decoder, ...linesOf("error-in-the-middle"));
    assert.throws(failing, { code: "provider_failed", message: /failed on the worker/ });
    assert.equal(decoder.usage?.input_tokens, 900);
  });

  it("fail if they took too long", () => {
    assert.throws(() => decode(...linesOf("timeout-in-the-middle")), {
      code: "provider_failed",
      message: /longer than the server allows/,
    });
  });

  it("fail with a text in place of a message", () => {
    assert.throws(() => decode(text("Hi"), { id: "x", message: "worker went away" }), {
      code: "provider_failed",
      message: /worker went away/,
    });
  });

  it("name no tool, or report a call and make none", () => {
    const nameless = { function: { arguments: "{}" } };
    const start = delta("tool-call-start", { tool_calls: nameless });
    assert.throws(() => decode(start), { code: "broken_answer" });
    const end = { type: "message-end", delta: { finish_reason: "TOOL_CALL" } };
    assert.throws(() => decode(text("Hi"), end), { code: "broken_answer" });
  });
});

describe("servers that offer cohere's API", () => {
  const end = { type: "message-end", delta: { finish_reason: "COMPLETE" } };

  it("may leave out the starts of answers, blocks and calls", () => {
    const called = { id: "a", function: { name: "read", arguments: '{"path":"x"}' } };
    const events = decode(text("Hi."), delta("tool-call-delta", { tool_calls: called }), end);
    assert.deepEqual(itemsOf(events), [said("Hi."), call("a", "read", '{"path":"x"}')]);
    assert.equal(endOf(events).reason, "tool_calls");
  });

  it("may give arguments as an object, and no ids or numbers", () => {
    const called = { function: { name: "read", arguments: { path: "x" } } };
    const start = delta("tool-call-start", { tool_calls: called });
    const items = itemsOf(decode(start, { type: "tool-call-end" }, start, end));
    assert.deepEqual(
      items.map((item) => (item.type === "function_call" ? [item.call_id, item.arguments] : [])),
      [
        ["call__0", '{"path":"x"}'],
        ["call__1", '{"path":"x"}'],
      ],
    );
  });

  it("call tools by the names that they were given", () => {
    const tools = [{ ...WEATHER, name: "mcp.weather-now" }];
    const called = { id: "a", function: { name: "mcp_weather_now", arguments: "{}" } };
    const start = delta("tool-call-start", { tool_calls: called });
    const [made] = itemsOf(decodeAll(createDecoder(request({ tools })), start, end));
    assert.equal(made?.type === "function_call" && made.name, "mcp.weather-now");
  });
});

function delta(type: string, message: JsonObject): object {
  return { type, delta: { message } };
}

function text(piece: string): object {
  return delta("content-delta", { content: { text: piece } });
}
