import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FailureCode } from "../../../src/base/failure.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { EndReason, ModelEvent } from "../../../src/protocol/model-events.ts";
import { toUsage } from "../../../src/protocol/usage.ts";
import { createDecoder } from "../../../src/providers/gemini/decode.ts";
import { unsealPart } from "../../../src/providers/gemini/sealed-part.ts";
import { assertEventOrder } from "../event-order.ts";
import { decodeAll, endOf, itemsOf } from "../streams.ts";

/** An event with these parts. */
const chunk = (parts: readonly object[], more: object = {}): object => ({
  candidates: [{ content: { parts, role: "model" }, index: 0, ...more }],
  modelVersion: "m1",
  responseId: "r1",
});
const text = (words: string, more: object = {}): object => chunk([{ text: words }], more);
const call = (functionCall: object, more: object = {}): object =>
  chunk([{ functionCall, ...more }]);
const STOP = chunk([], { finishReason: "STOP" });

const createFresh = (turn = 1) =>
  createDecoder({
    items: Array.from({ length: turn }, (): Item => ({ type: "compaction_trigger" })),
  });

function decode(...payloads: readonly (object | string)[]): ModelEvent[] {
  const events = decodeAll(createFresh(), ...payloads);
  assertEventOrder(events);
  return events;
}

/** The items in short: type, text, and sealed data. */
function shortly(events: readonly ModelEvent[]): unknown[] {
  return itemsOf(events).map((item) => {
    if (item.type === "reasoning") {
      const said = item.summary.map((part) => part.text).join("");
      return ["thought", said, unsealPart(item.encrypted_content)];
    }
    if (item.type === "function_call") return [item.call_id, item.name, item.arguments];
    if (item.type !== "message" || typeof item.content === "string") return [item.type];
    const [part] = item.content;
    return [
      part?.type,
      part && "text" in part ? part.text : part && "refusal" in part ? part.refusal : "",
    ];
  });
}

describe("gemini text", () => {
  it("is one message however it was split, and ends with the answer", () => {
    const item = { type: "message", role: "assistant" };
    assert.deepEqual(decode(text("Hel"), text("lo"), STOP), [
      { type: "start", response_id: "r1", model: "m1" },
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
      { type: "end", reason: "stop", usage: toUsage({}), continuation: undefined },
    ]);
  });

  it("keeps its signatures in an item after it, with their places", () => {
    const parts = [{ text: "A", thoughtSignature: "s1" }, { text: "B" }, { text: "C" }];
    const events = decode(chunk(parts), chunk([{ text: "", thoughtSignature: "s2" }]), STOP);
    const segments = [
      [1, "s1"],
      [2, null],
      [0, "s2"],
    ];
    assert.deepEqual(shortly(events), [
      ["output_text", "ABC"],
      ["thought", "", { text: segments }],
    ]);
  });

  it("is not a message if there is only a signature", () => {
    for (const part of [{ text: "", thoughtSignature: "s" }, { thoughtSignature: "s" }]) {
      assert.deepEqual(shortly(decode(chunk([part]), STOP)), [
        ["thought", "", { text: [[0, "s"]] }],
      ]);
    }
    assert.deepEqual(shortly(decode(chunk([{ text: "" }]), STOP)), []);
  });

  it("comes only from the first candidate", () => {
    const other = { content: { parts: [{ text: "B" }] }, index: 1, finishReason: "SAFETY" };
    const first = { content: { parts: [{ text: "A" }] }, index: 0, finishReason: "STOP" };
    assert.deepEqual(shortly(decode({ candidates: [other, first] })), [["output_text", "A"]]);
  });

  it("names its source pages, which may come twice", () => {
    const groundingMetadata = { groundingChunks: [{ web: { uri: "https://x.org" } }] };
    const events = decode(
      text("A"),
      chunk([], { groundingMetadata }),
      text("B", { groundingMetadata, finishReason: "STOP" }),
    );
    const annotation = { type: "url_citation", url: "https://x.org", title: "" };
    assert.deepEqual(
      events.filter(({ type }) => type === "annotation"),
      [{ type: "annotation", index: 0, part: 0, annotation }],
    );
    const [item] = itemsOf(events);
    assert.deepEqual(item && "content" in item && item.content, [
      { type: "output_text", text: "AB", annotations: [annotation] },
    ]);
  });
});

describe("gemini reasoning", () => {
  const thought = (words: string, more: object = {}) => ({ text: words, thought: true, ...more });

  it("is one item until something else begins", () => {
    const events = decode(chunk([thought("H")]), chunk([thought("m.")]), text("A"), STOP);
    assert.deepEqual(shortly(events), [
      ["thought", "Hm.", {}],
      ["output_text", "A"],
    ]);
    const deltas = events.filter(({ type }) => type === "reasoning_delta");
    assert.deepEqual(deltas[0], {
      type: "reasoning_delta",
      kind: "summary",
      index: 0,
      part: 0,
      delta: "H",
    });
  });

  it("that are signed are items of their own", () => {
    const signed = thought("B", { thoughtSignature: "s" });
    const events = decode(chunk([thought("A"), signed, thought("C")]), STOP);
    assert.deepEqual(shortly(events), [
      ["thought", "A", {}],
      ["thought", "B", { thought: "s" }],
      ["thought", "C", {}],
    ]);
  });

  it("has the signature of the call that it led to", () => {
    const part = { functionCall: { name: "f", id: "c1" }, thoughtSignature: "s" };
    assert.deepEqual(shortly(decode(chunk([thought("Hm."), part]), STOP)), [
      ["thought", "Hm.", { next: "s" }],
      ["c1", "f", "{}"],
    ]);
  });
});

describe("gemini calls", () => {
  it("come whole, with the vendor's id or one of ours", () => {
    const events = decode(
      call({ id: "a", name: "f", args: { x: 1 } }, { thoughtSignature: "s" }),
      call({ name: "g", args: {} }),
      STOP,
    );
    assert.deepEqual(shortly(events), [
      ["thought", "", { next: "s" }],
      ["a", "f", '{"x":1}'],
      ["call_noid_r1_1", "g", "{}"],
    ]);
    assert.equal(endOf(events).reason, "tool_calls");
  });

  it("get ids that no other turn has, even from a server that sends no answer id", () => {
    const idsOf = (turn: number) => {
      const [item] = itemsOf(
        decodeAll(createFresh(turn), {
          candidates: [
            { content: { parts: [{ functionCall: { name: "f" } }] }, finishReason: "STOP" },
          ],
        }),
      );
      return item?.type === "function_call" ? item.call_id : "";
    };
    assert.notEqual(idsOf(1), idsOf(3));
  });

  it("get another id if two have the same", () => {
    const events = decode(call({ id: "a", name: "f" }), call({ id: "a", name: "g" }), STOP);
    assert.deepEqual(shortly(events), [
      ["a", "f", "{}"],
      ["a_1", "g", "{}"],
    ]);
  });

  const pieces: readonly [name: string, parts: readonly object[], calls: readonly unknown[]][] = [
    [
      "closed by an empty part",
      [
        { name: "f", willContinue: true },
        { partialArgs: [{ jsonPath: "$.a", stringValue: "x" }], willContinue: true },
        {},
      ],
      [["call_noid_r1_0", "f", '{"a":"x"}']],
    ],
    [
      "closed by their last piece",
      [{ name: "f", willContinue: true }, { partialArgs: [{ jsonPath: "$.a", numberValue: 1 }] }],
      [["call_noid_r1_0", "f", '{"a":1}']],
    ],
    ["closed twice", [{ name: "f", willContinue: true }, {}, {}], [["call_noid_r1_0", "f", "{}"]]],
    [
      "closed by the next call",
      [
        { name: "f", willContinue: true },
        { name: "f", args: { a: 1 } },
      ],
      [
        ["call_noid_r1_0", "f", "{}"],
        ["call_noid_r1_1", "f", '{"a":1}'],
      ],
    ],
    [
      "closed by the end",
      [{ name: "f", willContinue: true, partialArgs: [{ jsonPath: "$.a", boolValue: true }] }],
      [["call_noid_r1_0", "f", '{"a":true}']],
    ],
    [
      "joined by their id where it is repeated with the name",
      [
        { id: "a", name: "f", willContinue: true },
        { id: "a", name: "f", partialArgs: [{ jsonPath: "$.a", numberValue: 1 }] },
      ],
      [["a", "f", '{"a":1}']],
    ],
    [
      "replaced by arguments that come whole",
      [
        { name: "f", willContinue: true, partialArgs: [{ jsonPath: "$.a", numberValue: 1 }] },
        { args: { a: 2 } },
      ],
      [["call_noid_r1_0", "f", '{"a":2}']],
    ],
  ];
  for (const [name, parts, calls] of pieces) {
    it(`in pieces are ${name}`, () => {
      assert.deepEqual(shortly(decode(...parts.map((part) => call(part)), STOP)), calls);
    });
  }

  it("keep a signature that comes after they have begun", () => {
    const events = decode(
      call({ name: "f", willContinue: true }),
      call({}, { thoughtSignature: "s" }),
      STOP,
    );
    assert.deepEqual(shortly(events), [
      ["call_noid_r1_0", "f", "{}"],
      ["thought", "", { last: "s" }],
    ]);
  });

  it("without a name make a broken answer", () => {
    assert.throws(() => decode(call({ args: {} }), STOP), { code: "broken_answer" });
  });
});

describe("Gemini's own tools", () => {
  it("calls of Gemini's own tools are kept unchanged", () => {
    const parts = [
      { executableCode: { language: "PYTHON", code: "print(1)" }, thoughtSignature: "s" },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
      { inlineData: { mimeType: "audio/wav", data: "AA==" } },
      { somethingNew: { a: 1 } },
    ];
    const events = decode(chunk([{ text: "A" }, ...parts]), STOP);
    assert.deepEqual(
      itemsOf(events).slice(1),
      parts.map((block, at) => ({
        type: `google:${Object.keys(block)[0]}`,
        id: `r1_${at + 1}`,
        block,
      })),
    );
  });
});

describe("the end of a gemini answer", () => {
  const reasons: readonly [given: string, reason: EndReason][] = [
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "refusal"],
    ["RECITATION", "refusal"],
    ["PROHIBITED_CONTENT", "refusal"],
    ["OTHER", "refusal"],
    ["CONTINUATION", "pause"],
    ["SOMETHING_NEW", "stop"],
  ];
  for (const [given, reason] of reasons) {
    it(`is \`${reason}\` for \`${given}\``, () => {
      assert.equal(endOf(decode(text("A", { finishReason: given }))).reason, reason);
    });
  }

  it("may be repeated in every event", () => {
    const events = decode(text("A", { finishReason: "STOP" }), text("B", { finishReason: "STOP" }));
    assert.deepEqual(shortly(events), [["output_text", "AB"]]);
  });

  it("reports why the filter stopped the answer or the prompt", () => {
    const stopped = text("A", { finishReason: "SAFETY", finishMessage: "Not this." });
    assert.deepEqual(shortly(decode(stopped)), [
      ["output_text", "A"],
      ["refusal", "Not this."],
    ]);
    const blocked = decode({
      promptFeedback: { blockReason: "SAFETY" },
      usageMetadata: { promptTokenCount: 3 },
    });
    assert.deepEqual(shortly(blocked), [
      ["refusal", "The vendor's filter stopped the prompt: SAFETY."],
    ]);
    assert.equal(endOf(blocked).reason, "refusal");
    assert.equal(endOf(blocked).usage.input_tokens, 3);
  });

  it("an item that the limit truncated is marked as incomplete", () => {
    const limit = chunk([], { finishReason: "MAX_TOKENS" });
    for (const cut of [text("A"), call({ name: "f", willContinue: true })]) {
      const [item] = itemsOf(decode(cut, limit));
      assert.ok(item && "status" in item && item.status === "incomplete");
    }
  });

  it("keeps the token to continue it", () => {
    const end = { finishReason: "CONTINUATION", continuationToken: "t" };
    assert.deepEqual(shortly(decode(text("A", end))), [
      ["output_text", "A"],
      ["thought", "", { token: "t" }],
    ]);
  });

  for (const finishReason of ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]) {
    it(`is a failure that may pass for \`${finishReason}\``, () => {
      const broken = chunk([], { finishReason, finishMessage: "print(f(" });
      assert.throws(() => decode(broken), { code: "broken_answer", message: /print\(f\(/ });
    });
  }

  it("that never comes breaks the protocol", () => {
    for (const payloads of [[], [text("A")], [{ usageMetadata: {} }], ["no JSON"], ["[]"]]) {
      assert.throws(() => decodeAll(createFresh(), ...payloads), {
        code: "provider_broke_protocol",
      });
    }
  });

  const errors: readonly [error: object, code: FailureCode][] = [
    [{ code: 429, message: "Busy", status: "RESOURCE_EXHAUSTED" }, "provider_overloaded"],
    [{ code: 503, message: "Overloaded", status: "UNAVAILABLE" }, "provider_overloaded"],
    [{ code: 500, message: "Broke", status: "INTERNAL" }, "provider_failed"],
  ];
  for (const [error, code] of errors) {
    it(`is \`${code}\` for an error in the stream: ${JSON.stringify(error)}`, () => {
      assert.throws(() => decode(text("A"), { error }), { code });
      assert.throws(() => decode(text("A"), [{ error }]), { code });
    });
  }

  it("ignores lines that are not JSON or not events", () => {
    const events = decode("nonsense", "null", "3", "[]", "{}", text("A"), '{"a":', STOP);
    assert.deepEqual(shortly(events), [["output_text", "A"]]);
  });
});

describe("gemini usage", () => {
  it("counts reasoning as output and tool results as input", () => {
    const usageMetadata = {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 5,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 3,
    };
    assert.deepEqual(
      endOf(decode({ ...STOP, usageMetadata })).usage,
      toUsage({ input: 15, cached: 4, output: 10, reasoning: 3 }),
    );
  });

  it("is the last value of each count", () => {
    const early = { ...text("A"), usageMetadata: { promptTokenCount: 10, thoughtsTokenCount: 3 } };
    const late = { ...STOP, usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 7 } };
    assert.deepEqual(
      endOf(decode(early, late)).usage,
      toUsage({ input: 10, output: 10, reasoning: 3 }),
    );
  });
});
