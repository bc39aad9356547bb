import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FailureCode } from "../../../src/base/failure.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { toUsage } from "../../../src/protocol/usage.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { createDecoder } from "../../../src/providers/responses/decode.ts";
import type { Quirks } from "../../../src/providers/wire.ts";
import { assertEventOrder } from "../event-order.ts";
import { request } from "../provider-contract.ts";
import {
  decodeAll,
  decodeBody,
  endOf,
  itemsOf,
  readRecordings,
  readWholeAnswers,
  terminalOf,
  toSseBody,
} from "../recordings.ts";

const create = (more: Partial<ModelRequest> = {}, quirks: Quirks = {}) =>
  createDecoder(request(more), quirks);

function decode(...payloads: readonly (object | string)[]): ModelEvent[] {
  const events = decodeAll(create(), ...payloads);
  assertEventOrder(events);
  return events;
}

const created = { type: "response.created", response: { id: "r1", model: "m1" } };
const completed = (response: object = {}): object => ({
  type: "response.completed",
  response: { id: "r1", status: "completed", ...response },
});
const added = (output_index: number, item: object) => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: object) => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const message = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "in_progress",
  content: [],
};
const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "" };

/** Recordings that are to fail, and how. */
const FAILING: Readonly<Record<string, FailureCode>> = {
  "openai-error.1.jsonl": "provider_rejected",
  // Made by hand, and its first and last lines lack a brace: what is no JSON is passed over, so the
  // answer has no end.
  "parallel-tool-call-wrapper.1.jsonl": "provider_broke_protocol",
};

/** Servers that give their items other ids at the end than in the stream. */
const CHANGES_IDS: ReadonlySet<string> = new Set(["github-copilot-id-rotation.1.jsonl"]);

describe("responses recordings", () => {
  for (const recording of readRecordings("responses")) {
    const { name, lines } = recording;
    const body = toSseBody(lines);
    const failure = FAILING[name];
    if (failure !== undefined) {
      it(`fail as the server says, however they are cut: ${name}`, () => {
        for (const pieceBytes of [1, 2, 7, 64, body.length]) {
          assert.throws(() => decodeBody(create(), body, pieceBytes), { code: failure });
        }
      });
      continue;
    }

    it(`decode to the same events however they are cut: ${name}`, () => {
      const events = decodeBody(create(), body);
      assertEventOrder(events);
      for (const pieceBytes of [1, 2, 7, 64]) {
        assert.deepEqual(decodeBody(create(), body, pieceBytes), events, `${pieceBytes}`);
      }
    });

    it(`decode to the items of the server's own last word: ${name}`, () => {
      const events = decodeBody(create(), body);
      const { output, id } = terminalOf(recording);
      const toComparable = (item: object) => (CHANGES_IDS.has(name) ? { ...item, id: "" } : item);
      assert.deepEqual(itemsOf(events).map(toComparable), output.map(toComparable));
      assert.equal(endOf(events).continuation?.response_id, id);
    });

    it(`decode to deltas that say what the items say: ${name}`, () => {
      const events = decodeBody(create(), body);
      for (const [index, item] of itemsOf(events).entries()) {
        const said = events.flatMap((event) =>
          "delta" in event && event.index === index ? [event.delta] : [],
        );
        if (item.type === "message" && typeof item.content !== "string") {
          const texts = item.content.map((part) => (part.type === "output_text" ? part.text : ""));
          assert.equal(said.join(""), texts.join(""));
        }
        if (item.type === "function_call") assert.equal(said.join(""), item.arguments);
        if (item.type === "custom_tool_call") assert.equal(said.join(""), item.input);
      }
    });
  }

  for (const { name, body } of readWholeAnswers("responses")) {
    const answer = JSON.parse(body);
    if (answer.object !== "response") {
      it(`fail as the server says: ${name}`, () => {
        assert.throws(() => decode(JSON.stringify(answer)), { vendorCode: answer.error.code });
      });
      continue;
    }
    it(`decode an answer that was not streamed: ${name}`, () => {
      assert.deepEqual(itemsOf(decode(JSON.stringify(answer))), answer.output);
    });
  }
});

describe("responses items", () => {
  it("are read from the published vocabulary", () => {
    assert.deepEqual(
      decode(
        created,
        added(0, call),
        { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"x"' },
        { type: "response.function_call_arguments.delta", output_index: 0, delta: ":1}" },
        { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"x":1}' },
        done(0, { ...call, arguments: '{"x":1}', status: "completed" }),
        completed(),
      ),
      [
        { type: "start", response_id: "r1", model: "m1" },
        { type: "item_start", index: 0, item: call },
        { type: "arguments_delta", index: 0, delta: '{"x"' },
        { type: "arguments_delta", index: 0, delta: ":1}" },
        {
          type: "item_end",
          index: 0,
          item: { ...call, arguments: '{"x":1}', status: "completed" },
        },
        {
          type: "end",
          reason: "tool_calls",
          usage: toUsage({}),
          continuation: { response_id: "r1", dialect: "function_call", stored: false },
        },
      ],
    );
  });

  it("are read from the older vocabulary, which is remembered", () => {
    const legacy = { type: "tool_call", id: "t1", name: "f" };
    const events = decode(
      created,
      { type: "response.output_item.added", item: legacy },
      { type: "response.tool_call_arguments.delta", item_id: "t1", delta: "{" },
      { type: "response.tool_call_arguments.delta", delta: "}" },
      { type: "response.output_item.done", item: { ...legacy, arguments: "{}" } },
      completed(),
    );
    assert.deepEqual(itemsOf(events), [
      { type: "function_call", id: "t1", call_id: "t1", name: "f", arguments: "{}" },
    ]);
    const { reason, continuation } = endOf(events);
    assert.deepEqual([reason, continuation?.dialect], ["tool_calls", "tool_call"]);
  });

  it("of the older vocabulary are told apart by id where there is no index", () => {
    const events = decode(
      created,
      { type: "response.output_item.added", item: { type: "tool_call", id: "a", name: "f" } },
      { type: "response.output_item.added", item: { type: "tool_call", id: "b", name: "g" } },
      { type: "response.tool_call_arguments.delta", tool_call_id: "a", delta: "[1]" },
      { type: "response.tool_call_arguments.delta", tool_call_id: "b", delta: "[2]" },
      { type: "response.output_item.done", item: { type: "tool_call", id: "a", name: "f" } },
      { type: "response.output_item.done", item: { type: "tool_call", id: "b", name: "g" } },
      completed(),
    );
    assert.deepEqual(
      itemsOf(events).map((item) => item.type === "function_call" && item.arguments),
      ["[1]", "[2]"],
    );
  });

  it("take their id for the call's where there is no other", () => {
    const { call_id: _, ...bare } = call;
    const [item] = itemsOf(decode(created, added(0, bare), done(0, bare), completed()));
    assert.ok(item?.type === "function_call" && item.call_id === "fc_1");
  });

  it("take whole arguments in place of the fragments", () => {
    const events = decode(
      created,
      added(0, call),
      { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"x":' },
      { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"x":2}' },
      done(0, call),
      completed(),
    );
    assert.ok(itemsOf(events)[0]?.type === "function_call");
    assert.deepEqual(itemsOf(events), [{ ...call, arguments: '{"x":2}' }]);
  });

  it("tell arguments that came without fragments as one", () => {
    const events = decode(
      created,
      added(0, call),
      { type: "response.function_call_arguments.done", output_index: 0, arguments: "{}" },
      done(0, { ...call, arguments: "{}" }),
      completed(),
    );
    assert.deepEqual(events[2], { type: "arguments_delta", index: 0, delta: "{}" });
  });

  it("write arguments that came as an object as JSON", () => {
    const given = { ...call, arguments: { x: 1 } };
    const events = decode(created, added(0, call), done(0, given), completed());
    assert.deepEqual(itemsOf(events), [{ ...call, arguments: '{"x":1}' }]);
  });

  it("are found by their place when their ids change on the way", () => {
    const events = decode(
      created,
      added(0, { ...message, id: "a" }),
      {
        type: "response.output_text.delta",
        output_index: 0,
        item_id: "b",
        content_index: 0,
        delta: "A",
      },
      done(0, { ...message, id: "c", content: [{ type: "output_text", text: "A" }] }),
      completed(),
    );
    assert.equal(itemsOf(events).length, 1);
  });

  it("open with their first words when nobody announced them", () => {
    const events = decode(
      created,
      {
        type: "response.reasoning_summary_text.delta",
        output_index: 0,
        summary_index: 0,
        delta: "Hm",
      },
      {
        type: "response.output_text.delta",
        output_index: 1,
        item_id: "m",
        content_index: 0,
        delta: "Hi",
      },
      completed(),
    );
    assert.deepEqual(itemsOf(events), [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
      {
        ...message,
        id: "m",
        status: "completed",
        content: [{ type: "output_text", text: "Hi", annotations: [] }],
      },
    ]);
  });

  it("that nobody closed end with the answer, as far as they were told", () => {
    const custom = {
      type: "custom_tool_call",
      id: "c",
      call_id: "c",
      name: "f",
      input: "",
      status: "in_progress",
    };
    const events = decode(
      created,
      added(0, { type: "reasoning", id: "rs", summary: [] }),
      { type: "response.reasoning_text.delta", output_index: 0, content_index: 0, delta: "Hm" },
      added(1, { ...call, status: "in_progress" }),
      { type: "response.function_call_arguments.delta", output_index: 1, delta: "{}" },
      added(2, custom),
      { type: "response.custom_tool_call_input.delta", output_index: 2, delta: "x" },
      added(3, message),
      { type: "response.refusal.delta", output_index: 3, content_index: 0, delta: "No." },
      completed(),
    );
    assert.deepEqual(itemsOf(events), [
      {
        type: "reasoning",
        id: "rs",
        summary: [],
        content: [{ type: "reasoning_text", text: "Hm" }],
      },
      { ...call, arguments: "{}", status: "completed" },
      { ...custom, input: "x", status: "completed" },
      { ...message, status: "completed", content: [{ type: "refusal", refusal: "No." }] },
    ]);
  });

  it("end once, also when the server says so twice", () => {
    const whole = { ...message, status: "completed" };
    decode(created, added(0, message), done(0, whole), done(0, whole), completed());
  });

  it("take no more once they have ended", () => {
    decode(
      created,
      added(0, message),
      done(0, message),
      { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "late" },
      { type: "response.reasoning_text.delta", output_index: 0, content_index: 0, delta: "late" },
      completed(),
    );
  });

  it("start once, also when the server announces them twice", () => {
    decode(created, added(0, message), added(0, message), done(0, message), completed());
  });

  it("are taken from the last event when none were streamed", () => {
    const output = [
      { ...message, content: [{ type: "output_text", text: "Hi" }] },
      { ...call, arguments: "{}" },
    ];
    assert.deepEqual(itemsOf(decode(created, completed({ output }))), output);
  });

  it("of kinds we do not know are kept, and their events passed on as they are", () => {
    const item = { type: "acme:thing", id: "x", field: [1] };
    const progress = { type: "response.acme_thing.progress", output_index: 0, percent: 50 };
    const events = decode(created, added(0, item), progress, done(0, item), completed());
    assert.deepEqual(events[2], { type: "opaque", event: progress });
    assert.deepEqual(itemsOf(events), [item]);
  });

  it("keep their citations", () => {
    const annotation = { type: "url_citation", url: "https://x.org" };
    const events = decode(
      created,
      added(0, message),
      {
        type: "response.output_text.annotation.added",
        output_index: 0,
        content_index: 0,
        annotation,
      },
      done(0, message),
      completed(),
    );
    assert.deepEqual(events[2], { type: "annotation", index: 0, part: 0, annotation });
  });
});

describe("the end of a responses answer", () => {
  const refusal = {
    type: "response.refusal.delta",
    output_index: 0,
    content_index: 0,
    delta: "No.",
  };
  const incomplete = (reason: string): object => ({
    type: "response.incomplete",
    response: { status: "incomplete", incomplete_details: { reason } },
  });
  const cases = [
    ["stop", [completed()]],
    ["tool_calls", [added(0, call), done(0, call), completed()]],
    ["refusal", [added(0, message), refusal, done(0, message), completed()]],
    ["length", [incomplete("max_output_tokens")]],
    ["length", [incomplete("something_new")]],
    ["refusal", [incomplete("content_filter")]],
  ] as const;
  for (const [reason, payloads] of cases) {
    it(`is \`${reason}\` after ${payloads.map(({ type }: { type?: string }) => type).join(", ")}`, () => {
      assert.equal(endOf(decode(created, ...payloads)).reason, reason);
    });
  }

  it("counts its tokens", () => {
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 15,
    };
    assert.deepEqual(
      endOf(decode(created, completed({ usage }))).usage,
      toUsage({ input: 10, cached: 4, output: 5, reasoning: 3 }),
    );
    for (const thin of [null, {}, { input_tokens: 1, input_tokens_details: null }]) {
      assert.equal(endOf(decode(created, completed({ usage: thin }))).usage.output_tokens, 0);
    }
  });

  const stores: readonly [quirks: Quirks, response: object, stored: boolean][] = [
    [{}, {}, false],
    [{ store: true }, {}, true],
    [{ store: true }, { store: true }, true],
    [{ store: true }, { store: false }, false],
  ];
  for (const [quirks, response, stored] of stores) {
    it(`is ${stored ? "" : "not "}stored: ${JSON.stringify([quirks, response])}`, () => {
      const events = decodeAll(create({}, quirks), created, completed(response));
      assert.equal(endOf(events).continuation?.stored, stored);
    });
  }

  it("names nothing to go on from where there is no id, or all is sent again", () => {
    const nameless = { type: "response.completed", response: {} };
    assert.equal(endOf(decode(nameless)).continuation, undefined);
    const replayed = decodeAll(create({ continuation: "replay" }), created, completed());
    assert.equal(endOf(replayed).continuation, undefined);
  });

  it("comes once, whatever is sent behind it", () => {
    decode(created, completed(), completed(), created, added(0, message), "[DONE]");
  });

  it("that never comes breaks the protocol", () => {
    for (const payloads of [[], [created], [created, added(0, message)], ["[DONE]"]]) {
      assert.throws(() => decodeAll(create(), ...payloads), { code: "provider_broke_protocol" });
    }
  });

  const errors: readonly [payload: object, code: FailureCode][] = [
    [{ type: "error", code: "rate_limit_exceeded", message: "Busy" }, "provider_overloaded"],
    [
      { type: "error", error: { code: "rate_limit_exceeded", message: "Busy" } },
      "provider_overloaded",
    ],
    [
      { type: "error", error: { code: "context_length_exceeded", message: "Long" } },
      "context_exceeded",
    ],
    [
      { type: "error", error: { code: "insufficient_quota", message: "No money" } },
      "provider_rejected",
    ],
    [{ type: "error", message: "Broke" }, "provider_failed"],
    [
      { type: "response.failed", response: { error: { code: "server_error", message: "Broke" } } },
      "provider_failed",
    ],
    [
      {
        type: "response.failed",
        response: { error: { code: "rate_limit_exceeded", message: "Busy" } },
      },
      "provider_overloaded",
    ],
    [{ type: "response.failed", response: {} }, "provider_failed"],
    [
      { object: "response", status: "failed", error: { code: "server_error", message: "B" } },
      "provider_failed",
    ],
    [{ error: { message: "Broke" } }, "provider_failed"],
  ];
  for (const [payload, code] of errors) {
    it(`is \`${code}\` for ${JSON.stringify(payload)}`, () => {
      assert.throws(() => decode(created, payload), { code });
    });
  }

  it("is not disturbed by lines that are no JSON, or no event", () => {
    decode("nonsense", created, "null", "3", "[]", {}, '{"type":', completed(), "[DONE]");
  });
});
