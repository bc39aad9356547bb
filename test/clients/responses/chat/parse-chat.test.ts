import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OpenAI } from "openai";
import type { CreateResponse } from "../../../../src/protocol/request.ts";
import { toCreateResponse } from "../../../../src/responses/chat/parse-chat.ts";

type Body = Partial<OpenAI.Chat.ChatCompletionCreateParams>;

const hi = [{ role: "user" as const, content: "Hi" }];
const asked = { input: [{ type: "message", role: "user", content: "Hi" }], store: false };

function requestOf(parameters: object): CreateResponse {
  return toCreateResponse({ messages: hi, ...parameters }).request;
}

describe("a parameter of a chat request", () => {
  const schema = { type: "object", properties: {} };
  const cases: readonly [name: string, given: Body, meant: object][] = [
    ["model", { model: "m" }, { model: "m" }],
    ["temperature", { temperature: 0.2 }, { temperature: 0.2 }],
    ["top_p", { top_p: 0.5 }, { top_p: 0.5 }],
    ["frequency_penalty", { frequency_penalty: -1 }, { frequency_penalty: -1 }],
    ["presence_penalty", { presence_penalty: 1 }, { presence_penalty: 1 }],
    ["stop as text", { stop: "END" }, { stop: "END" }],
    ["stop as a list", { stop: ["A", "B"] }, { stop: ["A", "B"] }],
    ["max_tokens", { max_tokens: 9 }, { max_output_tokens: 9 }],
    ["max_completion_tokens", { max_completion_tokens: 9 }, { max_output_tokens: 9 }],
    [
      "max_completion_tokens before max_tokens",
      { max_completion_tokens: 9, max_tokens: 5 },
      { max_output_tokens: 9 },
    ],
    ["logprobs", { logprobs: true }, { include: ["message.output_text.logprobs"] }],
    [
      "top_logprobs",
      { logprobs: true, top_logprobs: 3 },
      { include: ["message.output_text.logprobs"], top_logprobs: 3 },
    ],
    ["logprobs that are not wanted", { logprobs: false }, {}],
    ["reasoning_effort", { reasoning_effort: "low" }, { reasoning: { effort: "low" } }],
    ["verbosity", { verbosity: "high" }, { text: { verbosity: "high" } }],
    ["text", { response_format: { type: "text" } }, { text: { format: { type: "text" } } }],
    [
      "json_object",
      { response_format: { type: "json_object" } },
      { text: { format: { type: "json_object" } } },
    ],
    [
      "json_schema",
      {
        verbosity: "low",
        response_format: { type: "json_schema", json_schema: { name: "a", schema, strict: true } },
      },
      {
        text: {
          format: { type: "json_schema", name: "a", schema, strict: true },
          verbosity: "low",
        },
      },
    ],
    [
      "json_schema without a schema",
      { response_format: { type: "json_schema", json_schema: { name: "a" } } },
      { text: { format: { type: "json_schema", name: "a", schema: {} } } },
    ],
    ["metadata", { metadata: { a: "b" } }, { metadata: { a: "b" } }],
    ["user", { user: "u" }, { user: "u" }],
    ["safety_identifier", { safety_identifier: "s" }, { safety_identifier: "s" }],
    ["prompt_cache_key", { prompt_cache_key: "k" }, { prompt_cache_key: "k" }],
    [
      "prompt_cache_retention",
      { prompt_cache_retention: "24h" },
      { prompt_cache_retention: "24h" },
    ],
    [
      "prompt_cache_options",
      { prompt_cache_options: { mode: "explicit" } },
      { prompt_cache_options: { mode: "explicit" } },
    ],
    ["moderation", { moderation: { model: "m" } }, { moderation: { model: "m" } }],
    ["service_tier", { service_tier: "flex" }, { service_tier: "flex" }],
    ["stream", { stream: true }, { stream: true }],
    [
      "stream_options",
      { stream: true, stream_options: { include_usage: true, include_obfuscation: false } },
      { stream: true, stream_options: { include_obfuscation: false } },
    ],
    ["parallel_tool_calls", { parallel_tool_calls: false }, { parallel_tool_calls: false }],
    ["n, of which there is one", { n: 1 }, {}],
    [
      "web_search_options",
      {
        web_search_options: {
          search_context_size: "low",
          user_location: { type: "approximate", approximate: { city: "Oslo" } },
        },
      },
      {
        tools: [
          {
            type: "web_search",
            search_context_size: "low",
            user_location: { type: "approximate", city: "Oslo" },
          },
        ],
      },
    ],
    [
      "web_search_options that say nothing",
      { web_search_options: {} },
      { tools: [{ type: "web_search" }] },
    ],
    ["null", { temperature: null, stop: null, n: null, metadata: null, seed: null }, {}],
  ];
  for (const [name, given, meant] of cases) {
    it(`is understood: ${name}`, () => {
      assert.deepEqual(requestOf(given), { ...asked, ...meant });
    });
  }

  it("is passed on if it is unknown", () => {
    assert.deepEqual(requestOf({ top_k: 4, chat_template_kwargs: { thinking: true } }), {
      ...asked,
      top_k: 4,
      chat_template_kwargs: { thinking: true },
    });
  });

  it("is passed on under a name that every object has", () => {
    const body = `{"messages": [{"role": "user", "content": "Hi"}], "__proto__": {"store": true}}`;
    const { request } = toCreateResponse(JSON.parse(body));
    assert.equal(Object.getPrototypeOf(request), Object.prototype);
    assert.ok(Object.hasOwn(request, "__proto__"));
    assert.equal(request.store, false);
  });

  it("keeps other fields about reasoning", () => {
    const given = { reasoning: { summary: "auto", effort: "low" }, reasoning_effort: "high" };
    assert.deepEqual(requestOf(given).reasoning, { summary: "auto", effort: "high" });
    assert.deepEqual(requestOf({ reasoning: { effort: "low" } }).reasoning, { effort: "low" });
  });
});

describe("the unsupported parameters of a chat request", () => {
  const cases: readonly [given: object, ignored: readonly string[]][] = [
    [
      { modalities: ["text", "audio"], audio: { voice: "ash", format: "mp3" } },
      ["modalities", "audio"],
    ],
    [{ modalities: ["text"] }, []],
    [{ store: true }, []],
    [{ store: false, n: 1 }, []],
    [{ background: true, previous_response_id: "resp_1" }, ["background", "previous_response_id"]],
    [{ top_k: 1 }, []],
  ];
  for (const [given, ignored] of cases) {
    it(`are named and left out: ${JSON.stringify(given)}`, () => {
      const parsed = toCreateResponse({ messages: hi, ...given });
      assert.deepEqual(parsed.ignored, ignored);
      for (const name of ignored) {
        assert.equal((parsed.request as Record<string, unknown>)[name] ?? false, false);
      }
    });
  }

  it("do not include what some vendors of chat accept, which is passed on, nor empty values", () => {
    const given = {
      seed: 7,
      logit_bias: { "50256": -100 },
      prediction: { type: "content", content: "x" },
    };
    const { request, ignored } = toCreateResponse({ messages: hi, ...given });
    const { seed, logit_bias, prediction } = request as Record<string, unknown>;
    assert.deepEqual({ seed, logit_bias, prediction }, given);
    assert.deepEqual(ignored, []);
    assert.equal("logit_bias" in requestOf({ logit_bias: {} }), false);
  });

  it("are named once for all messages", () => {
    const { ignored } = toCreateResponse({
      messages: [
        { role: "user", name: "ann", content: "Hi" },
        { role: "assistant", audio: { id: "a" } },
        { role: "user", name: "bob", content: "Hi" },
      ],
    });
    assert.deepEqual(ignored, ["messages.name", "messages.audio"]);
  });
});

describe("the form of answer that a chat client wants", () => {
  const functions = [{ name: "f" }];
  const tools = [{ type: "function", function: { name: "g" } }];
  const cases: readonly [given: object, includeUsage: boolean, calls: string][] = [
    [{}, false, "tool_calls"],
    [{ stream_options: { include_usage: true } }, true, "tool_calls"],
    [{ stream_options: { include_usage: false } }, false, "tool_calls"],
    [{ functions }, false, "function_call"],
    [{ functions, tools }, false, "tool_calls"],
  ];
  for (const [given, includeUsage, calls] of cases) {
    it(`is read from ${JSON.stringify(given)}`, () => {
      const { answer } = toCreateResponse({ messages: hi, ...given });
      assert.deepEqual(answer, { includeUsage, calls });
    });
  }
});

describe("a wrong chat request", () => {
  const cases: readonly [given: unknown, param: string | undefined, message: RegExp][] = [
    ["text", undefined, /^The request must be an object, not a string\.$/],
    [{}, "messages", /^`messages` is missing\.$/],
    [{ messages: [] }, "messages", /^`messages` is empty; give at least one message\.$/],
    [{ messages: [{ role: "robot" }] }, "messages[0].role", /must be "system".*not "robot"\.$/],
    [{ messages: [{ role: "toString", content: "" }] }, "messages[0].role", /must be "system"/],
    [{ messages: [{ content: "Hi" }] }, "messages[0].role", /is missing/],
    [{ messages: [{ role: "user" }] }, "messages[0].content", /is missing/],
    [{ messages: [{ role: "user", content: null }] }, "messages[0].content", /must be a string/],
    [
      { messages: [...hi, { role: "user", content: [{ type: "text" }] }] },
      "messages[1].content[0].text",
      /is missing/,
    ],
    [
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
      "messages[0].content[0].image_url.url",
      /is missing/,
    ],
    [
      { messages: [{ role: "user", content: [{ type: "input_audio" }] }] },
      "messages[0].content[0].input_audio",
      /is missing/,
    ],
    [{ messages: [{ role: "tool", content: "x" }] }, "messages[0].tool_call_id", /is missing/],
    [
      { messages: [{ role: "assistant", tool_calls: [{ id: "c", function: { name: "f" } }] }] },
      "messages[0].tool_calls[0].function.arguments",
      /is missing/,
    ],
    [
      { messages: [{ role: "assistant", tool_calls: [{ id: "c", type: "custom" }] }] },
      "messages[0].tool_calls[0].custom",
      /is missing/,
    ],
    [
      { messages: [...hi, { role: "function", name: "f", content: "1" }] },
      "messages[1].name",
      /names no call before it/,
    ],
    [{ messages: hi, n: 129 }, "n", /^`n` must be at most 128/],
    [{ messages: hi, n: 0 }, "n", /at least 1/],
    [{ messages: hi, n: 1.5 }, "n", /./],
    [{ messages: hi, top_logprobs: 2 }, "top_logprobs", /needs `logprobs` to be true/],
    [{ messages: hi, top_logprobs: 21, logprobs: true }, "top_logprobs", /at most 20/],
    [{ messages: hi, temperature: 3 }, "temperature", /at most 2/],
    [{ messages: hi, max_tokens: 0 }, "max_tokens", /at least 1/],
    [
      { messages: hi, max_completion_tokens: "9" },
      "max_completion_tokens",
      /a number|whole number/,
    ],
    [{ messages: hi, reasoning_effort: "huge" }, "reasoning_effort", /not "huge"/],
    [{ messages: hi, verbosity: "loud" }, "verbosity", /not "loud"/],
    [{ messages: hi, stream: "yes" }, "stream", /true or false/],
    [{ messages: hi, stream_options: { include_usage: 1 } }, "stream_options.include_usage", /./],
    [{ messages: hi, metadata: { a: 1 } }, "metadata.a", /must be a string/],
    [{ messages: hi, seed: "x" }, "seed", /must be a number/],
    [{ messages: hi, logit_bias: [] }, "logit_bias", /must be an object/],
    [{ messages: hi, tools: [{ type: "function" }] }, "tools[0].function", /is missing/],
    [{ messages: hi, tools: [{ type: "custom" }] }, "tools[0].custom", /is missing/],
    [{ messages: hi, tools: [{}] }, "tools[0].type", /is missing/],
    [{ messages: hi, tool_choice: "any" }, "tool_choice", /"required" or "none", not "any"/],
    [{ messages: hi, tool_choice: { type: "function" } }, "tool_choice.function", /is missing/],
    [{ messages: hi, function_call: "required" }, "function_call", /"none" or "auto"/],
    [{ messages: hi, functions: [{}] }, "functions[0].name", /is missing/],
    [
      { messages: hi, response_format: { type: "json_schema" } },
      "response_format.json_schema",
      /is missing/,
    ],
  ];
  for (const [given, param, message] of cases) {
    it(`is refused by name: ${JSON.stringify(given)}`, () => {
      assert.throws(() => toCreateResponse(given), { code: "invalid_request", param, message });
    });
  }
});
