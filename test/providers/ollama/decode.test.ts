import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FunctionCall, Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { NO_USAGE, toUsage } from "../../../src/protocol/usage.ts";
import { encodeRequest } from "../../../src/providers/ollama/encode.ts";
import { assertEventOrder } from "../event-order.ts";
import { request } from "../provider-contract.ts";
import { endOf, itemsOf } from "../streams.ts";
import { ANSWERS, decodeBody, done, line, toBody } from "./answers.ts";

function decode(...lines: readonly (object | string)[]): ModelEvent[] {
  const events = decodeBody(toBody(lines));
  assertEventOrder(events);
  return events;
}

const callsIn = (events: readonly ModelEvent[]): FunctionCall[] =>
  itemsOf(events).filter((item): item is FunctionCall => item.type === "function_call");

const toolCall = (name: string, args: unknown, id?: string): object => ({
  ...(id === undefined ? {} : { id }),
  function: { name, arguments: args },
});

describe("ollama answers", () => {
  for (const [name, lines] of Object.entries(ANSWERS)) {
    it(`decode to the same events however they are split: ${name}`, () => {
      const body = toBody(lines);
      const events = decodeBody(body);
      assertEventOrder(events);
      for (const pieceBytes of [1, 2, 7, 64]) {
        assert.deepEqual(decodeBody(body, pieceBytes), events, `${pieceBytes}`);
      }
      assert.deepEqual(decodeBody(body.subarray(0, -1)), events, "without the last line's end");
    });

    it(`lose nothing when they are sent back as history: ${name}`, () => {
      const items = itemsOf(decodeBody(toBody(lines)));
      const { messages } = encodeRequest(request({ instructions: undefined, items }), {});
      const sent = messages as unknown as Record<string, unknown>[];
      const said = (field: string): string => {
        const texts = lines.map((entry) => (entry as Line).message[field] ?? "");
        return texts.join("");
      };
      const back = (field: string): string => sent.map((entry) => entry[field] ?? "").join("");
      assert.equal(back("content"), said("content"));
      assert.equal(back("thinking"), said("thinking"));
      assert.deepEqual(
        functionsOf(sent),
        functionsOf(lines.map((entry) => (entry as Line).message)),
      );
    });
  }

  interface Line {
    readonly message: Record<string, unknown>;
  }

  /** The calls of messages, without ids, which older servers do not send. */
  function functionsOf(messages: readonly Record<string, unknown>[]): unknown[] {
    const calls = messages.flatMap(
      (entry) => (entry["tool_calls"] ?? []) as { function: unknown }[],
    );
    return calls.map((entry) => entry.function);
  }
});

describe("ollama text", () => {
  it("opens with its first piece and closes with the answer", () => {
    const item = { type: "message", role: "assistant" };
    assert.deepEqual(
      decode(
        line({ content: "Hel" }),
        line({ content: "lo" }),
        done({ eval_count: 0, prompt_eval_count: 0 }),
      ),
      [
        { type: "start", response_id: "", model: "qwen3:8b" },
        { type: "item_start", index: 0, item: { ...item, status: "in_progress", content: [] } },
        { type: "text_delta", index: 0, part: 0, delta: "Hel" },
        { type: "text_delta", index: 0, part: 0, delta: "lo" },
        {
          type: "item_end",
          index: 0,
          item: {
            ...item,
            status: "completed",
            content: [{ type: "output_text", text: "Hello", annotations: [] }],
          },
        },
        { type: "end", reason: "stop", usage: NO_USAGE, continuation: undefined },
      ],
    );
  });

  it("ends the thinking before it, also within one line", () => {
    const events = decode(
      line({ thinking: "Hm", content: "A" }),
      line({ thinking: "Wait" }),
      done(),
    );
    const content = itemsOf(events).map((item) => ("content" in item ? item.content : []));
    assert.deepEqual(content, [
      [{ type: "reasoning_text", text: "Hm" }],
      [{ type: "output_text", text: "A", annotations: [] }],
      [{ type: "reasoning_text", text: "Wait" }],
    ]);
  });

  it("may be missing from an answer", () => {
    assert.deepEqual(itemsOf(decode(done())), []);
  });
});

describe("ollama tool calls", () => {
  it("come whole, and end the turn as calls", () => {
    const events = decode(line({ tool_calls: [toolCall("f", { x: 1 }, "a")] }), done());
    assert.deepEqual(
      events.map(({ type }) => type),
      ["start", "item_start", "arguments_delta", "item_end", "end"],
    );
    assert.deepEqual(callsIn(events), [
      { type: "function_call", call_id: "a", name: "f", arguments: '{"x":1}', status: "completed" },
    ]);
    assert.equal(endOf(events).reason, "tool_calls");
  });

  const history: Item[] = [
    { type: "message", role: "user", content: "Hi" },
    { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
    { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
  ];
  const ids: readonly [name: string, given: (string | undefined)[], ids: string[]][] = [
    ["made up when they have none", [undefined, undefined], ["call_2", "call_3"]],
    ["made up when two have the same", ["b", "b"], ["b", "b_3"]],
    ["made up when an earlier turn has the same", ["a"], ["a_2"]],
    ["made up when they are empty", [""], ["call_2"]],
    ["kept when they are their own", ["x", "y"], ["x", "y"]],
  ];
  for (const [name, given, expected] of ids) {
    it(`have ids that are ${name}`, () => {
      const calls = given.map((id) => toolCall("f", {}, id));
      const body = toBody([line({ tool_calls: calls }), done()]);
      const events = decodeBody(body, body.length, request({ items: history }));
      assert.deepEqual(
        callsIn(events).map(({ call_id }) => call_id),
        expected,
      );
    });
  }

  it("may have arguments that are text, or none", () => {
    const calls = [toolCall("f", '{"x":'), toolCall("g", null), { function: { name: "h" } }];
    assert.deepEqual(
      callsIn(decode(line({ tool_calls: calls }), done())).map((call) => call.arguments),
      ['{"x":', "{}", "{}"],
    );
  });

  it("without a name make a broken answer", () => {
    for (const nameless of [{}, { function: {} }, { function: { name: "" } }]) {
      assert.throws(() => decode(line({ tool_calls: [nameless] }), done()), {
        code: "broken_answer",
      });
    }
  });
});

describe("the end of an ollama answer", () => {
  it("an item that the limit truncated is marked as incomplete", () => {
    const events = decode(line({ content: "A" }), done({ done_reason: "length" }));
    const [item] = itemsOf(events);
    assert.ok(item && "status" in item && item.status === "incomplete");
    assert.equal(endOf(events).reason, "length");
  });

  it("is `stop` for a reason it does not know, or none", () => {
    for (const done_reason of ["load", "something_new", null, undefined]) {
      assert.equal(endOf(decode(line({ content: "A" }), done({ done_reason }))).reason, "stop");
    }
  });

  it("is broken if it reports a call without making one", () => {
    assert.throws(() => decode(line({ content: "A" }), done({ done_reason: "tool_calls" })), {
      code: "broken_answer",
      message: /named no tool/,
    });
    const called = line({ tool_calls: [toolCall("f", {})] });
    assert.equal(endOf(decode(called, done({ done_reason: "tool_calls" }))).reason, "tool_calls");
  });

  it("counts tokens, and none if the server sends no counts", () => {
    assert.deepEqual(endOf(decode(done())).usage, toUsage({ input: 26, output: 282 }));
    const silent = done({ prompt_eval_count: undefined, eval_count: null });
    assert.deepEqual(endOf(decode(silent)).usage, NO_USAGE);
  });

  it("comes once, whatever is sent after it", () => {
    const events = decode(line({ content: "A" }), done(), done(), line({ content: "B" }));
    assert.equal(itemsOf(events).length, 1);
  });

  it("that never comes breaks the protocol", () => {
    for (const lines of [[], [line({ content: "A" })], ["not JSON"], [{ done: false }]]) {
      assert.throws(() => decode(...lines), { code: "provider_broke_protocol" });
    }
  });

  it("is a failure with the reason if the server failed in the middle", () => {
    assert.throws(
      () => decode(line({ content: "A" }), { error: "llama runner process has terminated" }),
      { code: "provider_failed", message: /llama runner process has terminated/ },
    );
  });

  it("ignores lines that are not JSON or not chunks, and unknown fields", () => {
    const events = decode(
      "\ufeffnonsense",
      "null",
      "3",
      "[]",
      "",
      {},
      line({ content: "A", images: null, new_field: { deep: true } }, { remote_model: "x" }),
      '{"model":',
      done(),
    );
    assert.equal(itemsOf(events).length, 1);
  });

  it("reads a first line after a byte order mark, and lines that end with CR LF", () => {
    const text = `\ufeff${toBody(ANSWERS["text"] ?? [])
      .toString()
      .replaceAll("\n", "\r\n")}`;
    assert.deepEqual(decodeBody(Buffer.from(text)), decodeBody(toBody(ANSWERS["text"] ?? [])));
  });
});
