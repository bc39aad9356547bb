import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FailureCode } from "../../../src/base/failure.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { FunctionCall, Item, Reasoning } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { unseal } from "../../../src/protocol/sealed-reasoning.ts";
import { NO_USAGE, toUsage } from "../../../src/protocol/usage.ts";
import type { ModelRequest, OutputFormat } from "../../../src/providers/provider.ts";
import { assertEventOrder } from "../event-order.ts";
import { endOf, itemsOf } from "../streams.ts";
import { blocksOf, CLAUDE, decodeFrames, decodeWhole, toFrames } from "./converse.ts";

const START = { messageStart: { role: "assistant" } };
const stop = (stopReason = "end_turn"): JsonObject => ({ messageStop: { stopReason } });
const at = (contentBlockIndex: number) => ({ contentBlockIndex });
const piece = (index: number, delta: JsonObject): JsonObject => ({
  contentBlockDelta: { ...at(index), delta, p: "abc" },
});
const text = (index: number, said: string): JsonObject => piece(index, { text: said });
const thought = (index: number, reasoningContent: JsonObject): JsonObject =>
  piece(index, { reasoningContent });
// Newer models send the type on calls of ordinary tools as well.
const call = (index: number, toolUseId: string, name = "read"): JsonObject => ({
  contentBlockStart: { ...at(index), start: { toolUse: { toolUseId, name, type: "tool_use" } } },
});
const input = (index: number, json: string): JsonObject =>
  piece(index, { toolUse: { input: json } });
const blockStop = (index: number): JsonObject => ({ contentBlockStop: at(index) });

function decode(events: readonly JsonObject[], more: Partial<ModelRequest> = {}): ModelEvent[] {
  const decoded = decodeFrames(toFrames(events), { model: CLAUDE, ...more });
  assertEventOrder(decoded);
  return decoded;
}

const said = (content: string, status = "completed") => ({
  type: "message",
  role: "assistant",
  status,
  content: content === "" ? [] : [{ type: "output_text", text: content, annotations: [] }],
});

describe("converse text", () => {
  it("opens with its first piece and closes with the reason", () => {
    const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
    const events = decode([
      START,
      text(0, "Hel"),
      text(0, "lo"),
      blockStop(0),
      stop(),
      { metadata: { usage, metrics: { latencyMs: 5 } } },
    ]);
    assert.deepEqual(events, [
      { type: "start", response_id: "", model: "" },
      { type: "item_start", index: 0, item: said("", "in_progress") },
      { type: "text_delta", index: 0, part: 0, delta: "Hel" },
      { type: "text_delta", index: 0, part: 0, delta: "lo" },
      { type: "item_end", index: 0, item: said("Hello") },
      {
        type: "end",
        reason: "stop",
        usage: toUsage({ input: 3, output: 2 }),
        continuation: undefined,
      },
    ]);
  });

  it("of blocks that never stop is closed nevertheless, each as its own item", () => {
    const items = itemsOf(decode([text(0, "A"), text(1, "B"), stop()]));
    assert.deepEqual(items, [said("A"), said("B")]);
  });

  it("a converse text keeps its citations", () => {
    const page = { title: "X", location: { web: { url: "https://x.org" } } };
    const pages = {
      title: "Doc",
      location: { documentPage: { documentIndex: 0, start: 1, end: 2 } },
    };
    const events = decode([
      text(0, "A"),
      piece(0, { citation: page }),
      piece(0, { citation: pages }),
      stop(),
    ]);
    const annotations = events.flatMap((event) =>
      event.type === "annotation" ? [event.annotation] : [],
    );
    assert.deepEqual(annotations, [
      { type: "url_citation", url: "https://x.org", title: "X" },
      { type: "bedrock:citation", ...pages },
    ]);
  });

  it("may be missing from an answer", () => assert.deepEqual(itemsOf(decode([START, stop()])), []));
});

describe("converse reasoning", () => {
  it("is sealed with its signature, and sent back unchanged", () => {
    const items = itemsOf(
      decode([
        START,
        thought(0, { text: "Hm" }),
        thought(0, { text: "." }),
        thought(0, { signature: "sig" }),
        thought(0, { signature: "ned" }),
        blockStop(0),
        text(1, "Yes."),
        stop(),
      ]),
    );
    const [item] = items as Reasoning[];
    assert.deepEqual(item?.content, [{ type: "reasoning_text", text: "Hm." }]);
    assert.deepEqual(unseal("bedrock", item?.encrypted_content), {
      maker: "anthropic",
      reasoningText: { text: "Hm.", signature: "signed" },
    });
    assert.deepEqual(blocksOf(items, CLAUDE), [
      { reasoningContent: { reasoningText: { text: "Hm.", signature: "signed" } } },
      { text: "Yes." },
    ]);
  });

  it("that only its maker can read is sent back as bytes", () => {
    const [a, b] = [Buffer.from("ab").toString("base64"), Buffer.from("cde").toString("base64")];
    const items = itemsOf(
      decode([
        thought(0, { redactedContent: a }),
        thought(0, { redactedContent: b }),
        blockStop(0),
        text(1, "Ok"),
        stop(),
      ]),
    );
    const redactedContent = Buffer.from("abcde").toString("base64");
    assert.deepEqual(blocksOf(items, CLAUDE)[0], { reasoningContent: { redactedContent } });
  });

  it("with a signature and no text is kept", () => {
    const items = itemsOf(decode([thought(0, { signature: "s" }), text(1, "Ok"), stop()]));
    const reasoningText = { text: "", signature: "s" };
    assert.deepEqual(blocksOf(items, CLAUDE)[0], { reasoningContent: { reasoningText } });
  });

  it("of another maker's model, or without a signature, is not sent back", () => {
    const signed = itemsOf(
      decode([thought(0, { text: "Hm" }), thought(0, { signature: "s" }), text(1, "Ok"), stop()]),
    );
    assert.deepEqual(blocksOf(signed, "amazon.nova-2-lite-v1:0"), [{ text: "Ok" }]);
    const unsigned = itemsOf(decode([thought(0, { text: "Hm" }), text(1, "Ok"), stop()]));
    assert.equal((unsigned[0] as Reasoning).encrypted_content, undefined);
    assert.deepEqual(blocksOf(unsigned, CLAUDE), [{ text: "Ok" }]);
  });
});

describe("converse tool calls", () => {
  const callsOf = (events: readonly JsonObject[]) =>
    itemsOf(decode([...events, stop("tool_use")])).map((item) => {
      const { call_id, name, arguments: json } = item as FunctionCall;
      return [call_id, name, json];
    });

  it("are joined by block, in parallel", () => {
    const events = [
      call(0, "a"),
      call(1, "b", "write"),
      input(0, '{"x"'),
      input(1, "{"),
      input(0, ":1}"),
      input(1, "}"),
    ];
    assert.deepEqual(callsOf(events), [
      ["a", "read", '{"x":1}'],
      ["b", "write", "{}"],
    ]);
  });

  it("without arguments have empty ones", () => {
    const events = decode([call(0, "a"), input(0, ""), blockStop(0), stop("tool_use")]);
    assert.deepEqual(
      events.flatMap((event) => (event.type === "arguments_delta" ? [event.delta] : [])),
      ["{}"],
    );
    assert.equal((itemsOf(events)[0] as FunctionCall).arguments, "{}");
  });

  it("get ids of their own if two have the same, or none", () => {
    assert.deepEqual(
      callsOf([call(0, "a"), blockStop(0), call(1, "a"), blockStop(1), call(2, "")]).map(
        ([id]) => id,
      ),
      ["a", "a_1", "call_2"],
    );
  });

  it("end the turn as calls, whatever reason the server sends", () => {
    assert.equal(endOf(decode([call(0, "a"), stop("end_turn")])).reason, "tool_calls");
  });

  it("are a broken answer if there is no name before their arguments", () => {
    for (const event of [call(0, "a", ""), input(0, "{}")]) {
      assert.throws(() => decode([event, stop()]), { code: "broken_answer" });
    }
  });

  it("of the vendor's own tools are items that are sent back unchanged", () => {
    const toolUse = { toolUseId: "s1", name: "nova_grounding", type: "server_tool_use" };
    const toolResult = { toolUseId: "s1", type: "nova_grounding_result", status: "success" };
    const items = itemsOf(
      decode([
        { contentBlockStart: { ...at(0), start: { toolUse } } },
        input(0, '{"q":1}'),
        blockStop(0),
        { contentBlockStart: { ...at(1), start: { toolResult } } },
        piece(1, { toolResult: [{ text: "found" }] }),
        blockStop(1),
        text(2, "So."),
        stop(),
      ]),
    );
    assert.deepEqual(
      items.map(({ type }: { type: string }) => type),
      ["bedrock:toolUse", "bedrock:toolResult", "message"],
    );
    assert.deepEqual(blocksOf(items, CLAUDE), [
      { toolUse: { ...toolUse, input: { q: 1 } } },
      { toolResult: { ...toolResult, content: [{ text: "found" }] } },
      { text: "So." },
    ]);
  });
});

describe("a converse image", () => {
  it("is an item whose pieces are joined as bytes", () => {
    const source = (text: string) => ({ bytes: Buffer.from(text).toString("base64") });
    const events = [
      { contentBlockStart: { ...at(0), start: { image: { format: "png" } } } },
      piece(0, { image: { source: source("ab") } }),
      piece(0, { image: { source: source("cde") } }),
    ];
    assert.deepEqual(itemsOf(decode([...events, stop()])) as unknown[], [
      { type: "bedrock:image", block: { image: { format: "png", source: source("abcde") } } },
    ]);
  });
});

describe("the end of a converse answer", () => {
  const reasons = [
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["guardrail_intervened", "refusal"],
    ["content_filtered", "refusal"],
    ["something_new", "stop"],
  ] as const;
  for (const [given, reason] of reasons) {
    it(`is \`${reason}\` for \`${given}\``, () => {
      assert.equal(endOf(decode([text(0, "A"), stop(given)])).reason, reason);
    });
  }

  it("marks only items truncated by the limit as incomplete", () => {
    const events = [text(0, "A"), blockStop(0), call(1, "a"), input(1, "{"), blockStop(1)];
    const items = itemsOf(decode([...events, stop("max_tokens")]));
    assert.deepEqual(
      items.map((item) => "status" in item && item.status),
      ["completed", "incomplete"],
    );
  });

  it("fails if the model wrote a call that cannot be read", () => {
    for (const reason of ["malformed_tool_use", "malformed_model_output"]) {
      assert.throws(() => decode([stop(reason)]), { code: "broken_answer", vendorCode: reason });
    }
  });

  it("comes once, whatever is sent after it", () => {
    const metadata = { metadata: { usage: { inputTokens: 1, outputTokens: 1 } } };
    decode([text(0, "A"), stop(), stop("max_tokens"), metadata, metadata, text(0, "B"), stop()]);
    assert.equal(endOf(decode([metadata, text(0, "A"), stop()])).usage.input_tokens, 1);
  });

  it("that never comes breaks the protocol", () => {
    const metadata = { metadata: { usage: {} } };
    for (const events of [[], [START], [text(0, "A"), blockStop(0)], [text(0, "A"), metadata]]) {
      assert.throws(() => decode(events), { code: "provider_broke_protocol" });
    }
  });

  const exceptions: readonly [name: string, code: FailureCode][] = [
    ["throttlingException", "provider_overloaded"],
    ["serviceUnavailableException", "provider_overloaded"],
    ["modelStreamErrorException", "provider_failed"],
    ["internalServerException", "provider_failed"],
    ["modelTimeoutException", "provider_timeout"],
    ["validationException", "provider_rejected"],
    ["aNewException", "provider_failed"],
  ];
  for (const [name, code] of exceptions) {
    it(`is \`${code}\` for \`${name}\` in the stream`, () => {
      const events = [text(0, "A"), { [name]: { message: "It broke" } }];
      assert.throws(() => decode(events), { code, vendorCode: name, message: /It broke/ });
    });
  }

  it("says that the conversation is too long", () => {
    const message = "Input is too long for requested model.";
    assert.throws(() => decode([{ validationException: { message } }]), {
      code: "context_exceeded",
    });
  });

  it("ignores unknown events, blocks and fields", () => {
    const events = decode([
      { keepAlive: {} },
      { contentBlockStart: { ...at(0), start: {} } },
      { contentBlockStart: { ...at(1), start: { hologram: {} } } },
      piece(1, { hologram: "x" }),
      text(0, "A"),
      { messageStop: { stopReason: "end_turn", more: [1] } },
    ]);
    assert.deepEqual(itemsOf(events), [said("A")]);
  });
});

describe("converse usage", () => {
  const shapes = [
    ["totals alone", { inputTokens: 10, outputTokens: 5 }, { input: 10, output: 5 }],
    [
      "with the cache, which counts beside the input",
      { inputTokens: 10, outputTokens: 5, cacheReadInputTokens: 100, cacheWriteInputTokens: 20 },
      { input: 130, cached: 100, cacheWrite: 20, output: 5 },
    ],
    ["nulls", { inputTokens: 10, outputTokens: null }, { input: 10 }],
  ] as const;
  for (const [name, usage, counts] of shapes) {
    it(`is read: ${name}`, () => {
      assert.deepEqual(endOf(decode([stop(), { metadata: { usage } }])).usage, toUsage(counts));
    });
  }

  it("is empty if the server sends no counts", () => {
    assert.deepEqual(endOf(decode([stop()])).usage, NO_USAGE);
  });
});

describe("a converse answer that was not streamed", () => {
  it("keeps unknown blocks, and reads cited text", () => {
    const video = { format: "mp4", source: { bytes: "AAAA" } };
    const citation = { title: "X", location: { web: { url: "https://x.org" } } };
    const citationsContent = { content: [{ text: "Cited." }], citations: [citation] };
    const content = [{ citationsContent }, { video }];
    const answer = { output: { message: { role: "assistant", content } }, stopReason: "end_turn" };
    const events = decodeWhole(JSON.stringify(answer), { model: CLAUDE });
    assertEventOrder(events);
    const [message, kept] = itemsOf(events) as [Item, unknown];
    assert.equal(message.type === "message" && typeof message.content, "object");
    assert.equal(events.filter(({ type }) => type === "annotation").length, 1);
    assert.deepEqual(kept, { type: "bedrock:video", block: { video } });
  });
});

describe("an answer that is a tool's input", () => {
  const format: OutputFormat = { type: "json_schema", name: "out", schema: {}, strict: false };
  const document = [call(1, "j", "json"), input(1, '{"a"'), input(1, ":1}"), blockStop(1)];

  it("is the text, and text before it is not", () => {
    const events = decode([text(0, "Here:"), blockStop(0), ...document, stop("tool_use")], {
      format,
    });
    assert.deepEqual(
      itemsOf(events).map(({ type }) => type),
      ["reasoning", "message"],
    );
    assert.deepEqual(itemsOf(events)[1], said('{"a":1}'));
    assert.equal(endOf(events).reason, "stop");
  });

  it("may come as text nevertheless", () => {
    const events = decode([text(0, '{"a"'), text(0, ":1}"), blockStop(0), stop()], { format });
    assert.deepEqual(itemsOf(events), [said('{"a":1}')]);
  });

  it("leaves calls of other tools alone", () => {
    const events = decode([text(0, "Wait."), call(1, "w", "weather"), stop("tool_use")], {
      format,
    });
    assert.deepEqual(
      itemsOf(events).map(({ type }) => type),
      ["message", "function_call"],
    );
    assert.equal(endOf(events).reason, "tool_calls");
  });

  it("is a call if the request did not ask for such an answer", () => {
    assert.equal(itemsOf(decode([...document, stop("tool_use")]))[0]?.type, "function_call");
  });
});
