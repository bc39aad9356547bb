/** Forms of their own that single vendors of the chat API send, and want back. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item, Message } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { createDecoder } from "../../../src/providers/chat/decode.ts";
import { encodeRequest } from "../../../src/providers/chat/encode.ts";
import { dropRefused, findModel } from "../../../src/providers/models/models.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { type VendorName, vendorOf } from "../../../src/providers/vendors/catalog.ts";
import { assistant, call, output, thought, user } from "../conversation.ts";
import { assertEventOrder } from "../event-order.ts";
import { request } from "../provider-contract.ts";
import { decodeAll, endOf, itemsOf } from "../streams.ts";

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: "c1",
  model: "m1",
  choices: [{ index: 0, delta, finish_reason }],
});
const whole = (message: object, finish_reason: string, more: object = {}): object => ({
  id: "c1",
  model: "m1",
  choices: [{ index: 0, message, finish_reason }],
  ...more,
});
const STOP = chunk({}, "stop");

function decode(...payloads: readonly object[]): ModelEvent[] {
  const events = decodeAll(createDecoder(), ...payloads);
  assertEventOrder(events);
  return events;
}

function encode(vendor: VendorName, more: Partial<ModelRequest>): JsonObject {
  return encodeRequest(request({ instructions: undefined, ...more }), vendorOf(vendor).quirks);
}

const messagesFor = (vendor: VendorName, items: readonly Item[], model = "m"): JsonObject[] =>
  encode(vendor, { items, model })["messages"] as unknown as JsonObject[];

/** The calls of a message. */
const callsOf = (message: JsonObject | undefined): JsonObject[] =>
  (message?.["tool_calls"] ?? []) as unknown as JsonObject[];

/** The output of an answer, as pairs of a kind and its text. */
function wordsOf(events: readonly ModelEvent[]): [string, string][] {
  return itemsOf(events).map((item) => {
    const parts = (item as { content?: readonly { text?: string }[] }).content ?? [];
    return [item.type, parts.map(({ text }) => text ?? "").join("")];
  });
}

describe("content as a list of parts, from Mistral's thinking models", () => {
  const thinking = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }] });
  const words = [
    ["reasoning", "Look left. Look right."],
    ["message", "Then go."],
  ];

  it("is reasoning and text in a stream", () => {
    const events = decode(
      chunk({ role: "assistant", content: "" }),
      chunk({ content: [thinking("Look left.")] }),
      chunk({ content: [thinking(" Look right.")] }),
      chunk({ content: [{ type: "text", text: "Then" }] }),
      chunk({ content: " go." }, "stop"),
    );
    assert.deepEqual(wordsOf(events), words);
  });

  it("is reasoning and text in a whole answer", () => {
    const content = [thinking("Look left. Look right."), { type: "text", text: "Then go." }];
    assert.deepEqual(wordsOf(decode(whole({ content }, "stop"))), words);
  });

  it("is sent back to Mistral as parts", () => {
    const items = [user("How?"), thought("Look."), assistant("Go.")];
    assert.deepEqual(messagesFor("mistral", items)[1], {
      role: "assistant",
      content: [thinking("Look."), { type: "text", text: "Go." }],
    });
  });
});

describe("a conversation for a Mistral model", () => {
  const items = [
    user("Read"),
    call("call_PTLP8xRq", "{}"),
    output("call_PTLP8xRq", "one"),
    user("And?"),
  ];

  for (const [vendor, model] of [
    ["mistral", "mistral-medium-latest"],
    ["openrouter", "mistralai/devstral-2512"],
    ["vllm", "mistralai/Magistral-Small-2509"],
  ] as const) {
    it(`has ids of nine characters, and a message between a tool and a user: ${vendor}`, () => {
      const messages = messagesFor(vendor, items, model);
      const roles = messages.map(({ role }) => role);
      assert.deepEqual(roles, ["user", "assistant", "tool", "assistant", "user"]);
      const [made] = callsOf(messages[1]);
      assert.match(String(made?.["id"]), /^[A-Za-z0-9]{9}$/);
      assert.equal(messages[2]?.["tool_call_id"], made?.["id"]);
      assert.deepEqual(messagesFor(vendor, items, model), messages, "the same each time");
    });
  }

  it("keeps ids that the vendor made itself", () => {
    const own = [user("Read"), call("aB3dE6gH9", "{}"), output("aB3dE6gH9", "one")];
    assert.equal(
      messagesFor("mistral", own, "mistral-large-latest")[2]?.["tool_call_id"],
      "aB3dE6gH9",
    );
  });

  it("has PDFs in the vendor's own part", () => {
    const file = {
      type: "input_file",
      filename: "a.pdf",
      file_data: "data:application/pdf;base64,QQ==",
    };
    const message = { type: "message", role: "user", content: [file] } as Message;
    assert.deepEqual(messagesFor("mistral", [message], "mistral-small-latest")[0]?.["content"], [
      {
        type: "document_url",
        document_url: "data:application/pdf;base64,QQ==",
        document_name: "a.pdf",
      },
    ]);
  });

  it("of another vendor is not changed", () => {
    const roles = messagesFor("openai", items, "gpt-5.1").map(({ role }) => role);
    assert.deepEqual(roles, ["user", "assistant", "tool", "user"]);
  });
});

describe("the reasoning details of OpenRouter", () => {
  const text = (piece: object) => ({ type: "reasoning.text", index: 0, ...piece });
  const events = () =>
    decode(
      chunk({ reasoning: "Hm", reasoning_details: [text({ text: "Hm", format: "f" })] }),
      chunk({ reasoning: ".", reasoning_details: [text({ text: "." })] }),
      chunk({ reasoning_details: [text({ signature: "sig" })] }),
      chunk({
        reasoning_details: [{ type: "reasoning.encrypted", index: 1, id: "t1", data: "x1" }],
        tool_calls: [{ index: 0, id: "t1", function: { name: "read", arguments: "{}" } }],
      }),
      chunk({}, "tool_calls"),
    );
  const details = [
    text({ text: "Hm.", format: "f", signature: "sig" }),
    { type: "reasoning.encrypted", index: 1, id: "t1", data: "x1" },
  ];
  const turn = () => [user("Read"), ...itemsOf(events()), output("t1", "one")];

  it("are sent back unchanged and complete", () => {
    const sent = messagesFor("openrouter", turn(), "google/gemini-3.1-pro");
    assert.deepEqual(sent[1]?.["reasoning_details"], details);
    assert.equal(sent[1]?.["reasoning"], undefined);
    assert.equal(sent[2]?.["role"], "tool");
  });

  it("are not sent to other vendors", () => {
    for (const vendor of ["groq", "vllm", "openai", "custom"] as const) {
      assert.doesNotMatch(JSON.stringify(messagesFor(vendor, turn())), /sig|x1/);
    }
  });

  it("are sent back even if they come after the call", () => {
    const late = decode(
      chunk({ tool_calls: [{ index: 0, id: "t1", function: { name: "read", arguments: "{}" } }] }),
      chunk({ reasoning_details: [{ type: "reasoning.encrypted", index: 0, data: "x1" }] }),
      chunk({}, "tool_calls"),
    );
    const items = [user("Read"), ...itemsOf(late), output("t1", "one")];
    const sent = messagesFor("openrouter", items);
    assert.deepEqual(
      sent.map(({ role }) => role),
      ["user", "assistant", "tool"],
    );
    assert.deepEqual(sent[1]?.["reasoning_details"], [
      { type: "reasoning.encrypted", index: 0, data: "x1" },
    ]);
  });
});

describe("a call with signed content beside it, from Google's compatible endpoint", () => {
  const extra_content = { google: { thought_signature: "s1" } };
  const made = { index: 0, id: "t1", extra_content, function: { name: "read", arguments: "{}" } };

  it("is sent back with that content", () => {
    const items = itemsOf(decode(chunk({ tool_calls: [made] }), chunk({}, "tool_calls")));
    const sent = messagesFor("custom", [user("Read"), ...items, output("t1", "one")]);
    const [call] = callsOf(sent[1]);
    assert.deepEqual(call?.["extra_content"], extra_content);
    const [other] = callsOf(messagesFor("groq", items)[0]);
    assert.equal(other?.["extra_content"], undefined);
  });
});

describe("reasoning between calls", () => {
  const items = [user("Read"), thought("Hm."), call("c1", "{}"), output("c1", "one")];
  const fields: Partial<Record<VendorName, string>> = {
    vllm: "reasoning",
    lmstudio: "reasoning",
    groq: "reasoning",
    together: "reasoning",
    fireworks: "reasoning_content",
    custom: "reasoning_content",
    zai: "reasoning_content",
    alibaba: "reasoning_content",
    moonshot: "reasoning_content",
    cerebras: "reasoning",
    nvidia: "reasoning_content",
    llamacpp: "reasoning_content",
  };
  for (const [vendor, field] of Object.entries(fields)) {
    it(`is sent back to ${vendor}`, () => {
      assert.equal(messagesFor(vendor as VendorName, items)[1]?.[field], "Hm.");
    });
  }

  for (const vendor of ["sambanova", "huggingface", "oci", "mantle", "cloudflare"] as const) {
    it(`is not sent if no field for it is documented: ${vendor}`, () => {
      assert.doesNotMatch(JSON.stringify(messagesFor(vendor, items)), /Hm\./);
    });
  }
});

describe("a request to turn thinking off", () => {
  const off = { thinking: { type: "disabled" } };
  const rows: Partial<Record<VendorName, JsonObject>> = {
    zai: off,
    moonshot: off,
    deepseek: off,
    alibaba: { enable_thinking: false },
    vllm: { chat_template_kwargs: { enable_thinking: false, thinking: false } },
    openai: { reasoning_effort: "none" },
    groq: { reasoning_effort: "none" },
    openrouter: { reasoning: { effort: "none" } },
    together: { reasoning: { enabled: false } },
  };
  for (const [vendor, fields] of Object.entries(rows)) {
    it(`is sent to ${vendor} in its form, and only if requested`, () => {
      const body = (effort: "none" | "high") =>
        encode(vendor as VendorName, { reasoning: { effort, summary: undefined } });
      for (const [name, value] of Object.entries(fields)) {
        assert.deepEqual(body("none")[name], value);
        assert.notDeepEqual(body("high")[name], value);
      }
    });
  }

  it("reaches the default model of a vendor that supports it", () => {
    const model = vendorOf("deepseek").defaultModel ?? "";
    const asked = request({ model, reasoning: { effort: "none", summary: undefined } });
    assert.deepEqual(dropRefused(findModel("deepseek", model), asked).dropped, []);
  });
});

describe("reasoning that is counted beside the completion", () => {
  it("is part of the output", () => {
    const usage = {
      prompt_tokens: 12,
      completion_tokens: 1,
      total_tokens: 303,
      completion_tokens_details: { reasoning_tokens: 290 },
    };
    const { usage: counted } = endOf(decode(whole({ content: "Yes" }, "stop", { usage })));
    assert.deepEqual(
      [counted.input_tokens, counted.output_tokens, counted.total_tokens],
      [12, 291, 303],
    );
  });
});

describe("the pages of an answer", () => {
  const cited = (events: readonly ModelEvent[]): unknown[] =>
    events.flatMap((event) => (event.type === "annotation" ? [event.annotation] : []));
  const page = (url: string, more: object = {}) => ({
    type: "url_citation",
    url,
    title: "",
    start_index: 0,
    end_index: 0,
    ...more,
  });

  it("are cited at their numbers in the answer", () => {
    const search_results = [
      { url: "https://a.example/1", title: "One" },
      { url: "https://b.example/2", title: "Two" },
    ];
    const told = { ...chunk({ content: "So it is [2]." }), search_results };
    const events = decode(told, { ...STOP, search_results });
    assert.deepEqual(cited(events), [
      page("https://a.example/1", { title: "One" }),
      page("https://b.example/2", { title: "Two", start_index: 9, end_index: 12 }),
    ]);
    assert.match(JSON.stringify(itemsOf(events)), /a\.example.*b\.example/);
  });

  it("are cited by their addresses if there is nothing else", () => {
    const answer = whole({ content: "So." }, "stop", { citations: ["https://a.example/1"] });
    assert.deepEqual(cited(decode(answer)), [page("https://a.example/1")]);
  });

  it("are kept if they come before the text", () => {
    const url_citation = { url: "https://a.example/1", title: "One", start_index: 0, end_index: 3 };
    const events = decode(
      chunk({ content: "", annotations: [{ type: "url_citation", url_citation }] }),
      chunk({ content: "So." }, "stop"),
    );
    assert.deepEqual(cited(events), [{ type: "url_citation", ...url_citation }]);
  });
});

describe("an incomplete end of a chat answer", () => {
  it("is an empty reason, if the answer came in one piece", () => {
    assert.equal(endOf(decode(whole({ content: "Yes" }, ""))).reason, "stop");
    assert.throws(() => decode(chunk({ content: "Yes" }, "")), { code: "provider_broke_protocol" });
  });

  for (const given of ["tool_calls", "function_call"]) {
    it(`is a failure for \`${given}\` without a call`, () => {
      assert.throws(
        () => decode(chunk({ content: "A" }, given)),
        /announced a tool call but named no tool/,
      );
    });
  }
});
