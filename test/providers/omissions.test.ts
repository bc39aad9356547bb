/** Parameters that a wire leaves out only for some values or models: each is reported. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { bedrockWire } from "../../src/providers/bedrock/wire.ts";
import { cohereWire } from "../../src/providers/cohere/wire.ts";
import { geminiWire } from "../../src/providers/gemini/wire.ts";
import { llamacppWire } from "../../src/providers/llamacpp/wire.ts";
import { vertexWire } from "../../src/providers/messages/vertex.ts";
import { messagesWire } from "../../src/providers/messages/wire.ts";
import { type ModelRequest, toParameter } from "../../src/providers/provider.ts";
import { VENDOR_NAMES, vendorOf } from "../../src/providers/vendors/catalog.ts";
import type { Wire } from "../../src/providers/wire.ts";
import { request, WEATHER } from "./provider-contract.ts";
import { OPTION_NAMES } from "./request-contract.ts";

interface Row {
  readonly name: string;
  readonly wire: Wire;
  readonly asked: Partial<ModelRequest>;
  readonly omits: readonly string[];
  /** Fields of the body, by their names. */
  readonly body: JsonObject;
}

const CLAUDE = "anthropic.claude-sonnet-4-20250514-v1:0";
const thinking = { effort: "high", summary: undefined } as const;
const tools = [WEATHER];

const ROWS: readonly Row[] = [
  {
    name: "Claude stops at no blanks",
    wire: messagesWire,
    asked: { options: { stop: ["\n\n", "END"] } },
    omits: ["stop"],
    body: { stop_sequences: ["END"] },
  },
  {
    name: "Claude has no word for a cheap and slow tier",
    wire: messagesWire,
    asked: { options: { service_tier: "flex" } },
    omits: ["service_tier"],
    body: { service_tier: undefined },
  },
  {
    name: "Claude's own word keeps a request out of the priority",
    wire: messagesWire,
    asked: { options: { service_tier: "default" } },
    omits: [],
    body: { service_tier: "standard_only" },
  },
  {
    name: "Claude keeps nothing for as long as a word it does not know",
    wire: messagesWire,
    asked: { options: { prompt_cache_retention: "forever" } },
    omits: ["prompt_cache_retention"],
    body: {},
  },
  {
    name: "Claude keeps what is to last for an hour",
    wire: messagesWire,
    asked: { options: { prompt_cache_retention: "24h" } },
    omits: [],
    body: {},
  },
  {
    name: "Claude knows one user",
    wire: messagesWire,
    asked: { options: { user: "a", safety_identifier: "b" } },
    omits: ["user"],
    body: { metadata: { user_id: "b" } },
  },
  {
    name: "Claude does not sample while it thinks",
    wire: messagesWire,
    asked: { temperature: 0.5, top_p: 0.5, reasoning: thinking },
    omits: ["temperature", "top_p"],
    body: { temperature: undefined, top_p: undefined },
  },
  {
    name: "Claude samples one way",
    wire: vertexWire,
    asked: { temperature: 0.5, top_p: 0.5 },
    omits: ["top_p"],
    body: { temperature: 0.5, top_p: undefined },
  },
  {
    name: "Gemini calls the usual tier by its own name",
    wire: geminiWire,
    asked: { options: { service_tier: "default" } },
    omits: [],
    body: { serviceTier: "standard" },
  },
  {
    name: "Gemini has no word for a fast tier",
    wire: geminiWire,
    asked: { options: { service_tier: "fast" } },
    omits: ["service_tier"],
    body: { serviceTier: undefined },
  },
  {
    name: "Gemini gets no request for other tokens without one",
    wire: geminiWire,
    asked: { options: { top_logprobs: 0 } },
    omits: [],
    body: {
      generationConfig: { responseLogprobs: true, thinkingConfig: { thinkingLevel: "LOW" } },
    },
  },
  {
    name: "Gemini may call nothing where nothing on offer is allowed",
    wire: geminiWire,
    asked: { tools, tool_choice: { type: "allowed_tools", mode: "auto", tools: [] } },
    omits: [],
    body: { toolConfig: { functionCallingConfig: { mode: "NONE" } } },
  },
  {
    name: "Claude at Bedrock stops at no blanks",
    wire: bedrockWire,
    asked: { model: CLAUDE, options: { stop: [" ", "END"] } },
    omits: ["stop"],
    body: { inferenceConfig: { stopSequences: ["END"] } },
  },
  {
    name: "Bedrock has no word for a fast tier",
    wire: bedrockWire,
    asked: { options: { service_tier: "fast" } },
    omits: ["service_tier"],
    body: { serviceTier: undefined },
  },
  {
    name: "Claude at Bedrock gets the limit of one call with its tool choice",
    wire: bedrockWire,
    asked: { model: CLAUDE, tools, tool_choice: "required", parallel_tool_calls: false },
    omits: [],
    body: {
      additionalModelRequestFields: {
        tool_choice: { type: "any", disable_parallel_tool_use: true },
      },
    },
  },
  {
    name: "a model at Bedrock without a known parameter uses its default thinking",
    wire: bedrockWire,
    asked: { model: "meta.llama3-3-70b-instruct-v1:0", reasoning: thinking },
    omits: ["reasoning.effort"],
    body: { additionalModelRequestFields: undefined, outputConfig: undefined },
  },
  {
    name: "Claude at Bedrock does not think while it must call",
    wire: bedrockWire,
    asked: { model: CLAUDE, tools, tool_choice: "required", reasoning: thinking },
    omits: ["reasoning.effort"],
    body: { additionalModelRequestFields: undefined },
  },
  {
    name: "a model at Bedrock gets an effort in its maker's form",
    wire: bedrockWire,
    asked: { model: "openai.gpt-oss-120b-1:0", reasoning: thinking },
    omits: [],
    body: { additionalModelRequestFields: { reasoning_effort: "high" } },
  },
  {
    name: "Cohere takes one penalty",
    wire: cohereWire,
    asked: { options: { frequency_penalty: 0.2, presence_penalty: 0.3 } },
    omits: ["presence_penalty"],
    body: { frequency_penalty: 0.2, presence_penalty: undefined },
  },
  {
    name: "llama-server tells nothing of likelihoods in a stream with tools",
    wire: llamacppWire,
    asked: { tools, options: { top_logprobs: 2 } },
    omits: ["top_logprobs"],
    body: { logprobs: undefined, top_logprobs: undefined },
  },
  {
    name: "llama-server tells of them in one piece",
    wire: llamacppWire,
    asked: { tools, options: { top_logprobs: 0 }, whole: true },
    omits: [],
    body: { logprobs: true, top_logprobs: 1 },
  },
];

describe("parameters that a wire leaves out of some requests", () => {
  for (const { name, wire, asked, omits, body } of ROWS) {
    it(name, () => {
      const whole = request({ model: MODELS[wire.name] ?? "test-model", ...asked });
      assert.deepEqual(wire.omits?.(whole, {}), omits);
      const sent = wire.encode(whole, {});
      for (const [field, value] of Object.entries(body))
        assert.deepEqual(sent[field], value, field);
    });
  }
});

const MODELS: Readonly<Record<string, string>> = {
  anthropic: "claude-sonnet-4-5",
  "vertexai-anthropic": "claude-sonnet-4-5",
  gemini: "gemini-3.8-flash",
};

describe("parameters that vendors refuse", () => {
  const known = [...OPTION_NAMES.map(toParameter), "stream_options"];
  for (const vendor of VENDOR_NAMES) {
    it(`are named in the spelling of requests: ${vendor}`, () => {
      for (const name of vendorOf(vendor).quirks.refuses ?? [])
        assert.ok(known.includes(name), name);
    });
  }
});
