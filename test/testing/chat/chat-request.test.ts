import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { checkChatRequest } from "../../../src/testing/chat/chat-request.ts";
import { firstOf } from "../../../src/testing/exchange/rejection.ts";

const USER = { role: "user", content: "Hi" };
const call = (id: string): JsonObject => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }],
});
const result = (id: string): JsonObject => ({ role: "tool", tool_call_id: id, content: "ok" });
const tool = (definition: JsonObject): JsonObject => ({ type: "function", function: definition });
const schemaFormat = (json_schema: JsonObject): JsonObject => ({
  type: "json_schema",
  json_schema,
});
const CLOSED = { type: "object", properties: {}, required: [], additionalProperties: false };

/** A valid request with a change; `undefined` removes a field. */
function withChange(change: Record<string, unknown>): JsonObject {
  const body = { model: "m", messages: [USER], ...change };
  return JSON.parse(JSON.stringify(body));
}

describe("chat request checks", () => {
  const rows: [
    string,
    Record<string, unknown>,
    { message: RegExp; param?: string; code?: string },
  ][] = [
    ["no model", { model: undefined }, { message: /must provide a model/ }],
    [
      "no messages",
      { messages: undefined },
      { message: /'messages'/, code: "missing_required_parameter" },
    ],
    ["empty messages", { messages: [] }, { message: /empty array/, code: "empty_array" }],
    [
      "an unknown parameter",
      { max_output_tokens: 5 },
      { message: /^Unknown parameter: 'max_output_tokens'\.$/, code: "unknown_parameter" },
    ],
    [
      "an empty tools array",
      { tools: [] },
      { message: /empty array/, param: "tools", code: "empty_array" },
    ],
    [
      "tool_choice without tools",
      { tool_choice: "auto" },
      { message: /only allowed when 'tools'/, param: "tool_choice" },
    ],
    [
      "a flat tool",
      { tools: [{ type: "function", name: "read" }] },
      { message: /'tools\[0\]\.function'/ },
    ],
    [
      "a tool without a name",
      { tools: [tool({})] },
      { message: /'tools\[0\]\.function\.name'/, code: "missing_required_parameter" },
    ],
    [
      "a tool with a bad name",
      { tools: [tool({ name: "a b" })] },
      { message: /does not match pattern/ },
    ],
    [
      "tool parameters that are not an object",
      { tools: [tool({ name: "a", parameters: { type: "array" } })] },
      { message: /got 'type: "array"'/, code: "invalid_function_parameters" },
    ],
    [
      "a forced tool that is not offered",
      { tools: [tool({ name: "a" })], tool_choice: { type: "function", function: { name: "b" } } },
      { message: /not found in 'tools'/ },
    ],
    [
      "an unknown tool_choice",
      { tools: [tool({ name: "a" })], tool_choice: "any" },
      { message: /Invalid value: 'any'/ },
    ],
    [
      "a tool message after no call",
      { messages: [USER, result("c1")] },
      { message: /preceding message with 'tool_calls'/, param: "messages.[1].role" },
    ],
    [
      "a result for another call",
      { messages: [USER, call("c1"), result("c2")] },
      { message: /'tool_call_id' of 'c2' not found/, param: "messages.[2].tool_call_id" },
    ],
    [
      "a call without its result",
      { messages: [USER, call("c1"), USER] },
      { message: /did not have response messages: c1$/ },
    ],
    [
      "a call at the end",
      { messages: [USER, call("c1")] },
      { message: /must be followed by tool messages/ },
    ],
    [
      "an unknown role",
      { messages: [{ role: "robot", content: "" }] },
      { message: /Invalid value: 'robot'/, param: "messages[0].role", code: "invalid_value" },
    ],
    [
      "an unknown part",
      { messages: [{ role: "user", content: [{ type: "input_text", text: "Hi" }] }] },
      { message: /Invalid value: 'input_text'/, param: "messages[0].content[0].type" },
    ],
    [
      "an assistant message that says nothing",
      { messages: [USER, { role: "assistant", content: null }, USER] },
      { message: /expected a string, got null/ },
    ],
    [
      "arguments that are not text",
      {
        messages: [
          USER,
          {
            ...call("c1"),
            tool_calls: [{ id: "c1", type: "function", function: { name: "a", arguments: {} } }],
          },
          result("c1"),
        ],
      },
      { message: /expected a string, but got an object/ },
    ],
    [
      "a schema without a name",
      { response_format: schemaFormat({ schema: CLOSED }) },
      { message: /json_schema\.name'/ },
    ],
    [
      "a schema whose root is not an object",
      { response_format: schemaFormat({ name: "a", schema: { type: "array" } }) },
      { message: /schema must be a JSON Schema of 'type: "object"'/, code: "invalid_json_schema" },
    ],
    [
      "a strict schema left open",
      {
        response_format: schemaFormat({
          name: "a",
          strict: true,
          schema: { type: "object", properties: {} },
        }),
      },
      { message: /In context=\(\), 'additionalProperties'/ },
    ],
    [
      "a strict schema with an optional property",
      {
        response_format: schemaFormat({
          name: "a",
          strict: true,
          schema: { ...CLOSED, properties: { b: { type: "string" } } },
        }),
      },
      { message: /Missing 'b'/ },
    ],
    [
      "a strict schema open inside",
      {
        response_format: schemaFormat({
          name: "a",
          strict: true,
          schema: { ...CLOSED, properties: { b: { type: "object" } }, required: ["b"] },
        }),
      },
      { message: /In context=\('properties', 'b'\)/ },
    ],
    [
      "an unknown format",
      { response_format: { type: "xml" } },
      { message: /Invalid value: 'xml'/ },
    ],
    [
      "JSON that is not mentioned",
      { response_format: { type: "json_object" } },
      { message: /must contain the word 'json'/ },
    ],
    [
      "stream_options without stream",
      { stream_options: { include_usage: true } },
      { message: /only allowed when 'stream' is enabled/ },
    ],
    [
      "a temperature above 2",
      { temperature: 2.5 },
      { message: /<= 2, but got 2.5/, code: "decimal_above_max_value" },
    ],
    [
      "a temperature below 0",
      { temperature: -1 },
      { message: />= 0, but got -1/, code: "decimal_below_min_value" },
    ],
    [
      "a temperature in words",
      { temperature: "warm" },
      { message: /expected a decimal, but got a string/, code: "invalid_type" },
    ],
    [
      "temperature on a reasoning model",
      { model: "o3", temperature: 0.2 },
      { message: /Only the default \(1\)/, code: "unsupported_value" },
    ],
    [
      "no room for an answer",
      { max_tokens: 0 },
      { message: /'max_tokens'.*>= 1, but got 0/, code: "integer_below_min_value" },
    ],
    [
      "half a token",
      { max_completion_tokens: 1.5 },
      { message: /'max_completion_tokens': expected an integer/, code: "invalid_type" },
    ],
    [
      "a longer answer than the model gives",
      { model: "gpt-4o-mini", max_tokens: 16_385 },
      { message: /16385\. This model supports at most 16384 /, code: "invalid_value" },
    ],
    [
      "a longer answer than a reasoning model gives",
      { model: "gpt-5.1", max_completion_tokens: 200_000 },
      { message: /This model supports at most 128000 /, code: "invalid_value" },
    ],
    [
      "a length in both of its words",
      { max_tokens: 5, max_completion_tokens: 5 },
      { message: /at the same time/, code: "invalid_parameter_combination" },
    ],
    [
      "max_tokens on a reasoning model",
      { model: "gpt-5-mini", max_tokens: 5 },
      { message: /Use 'max_completion_tokens' instead/, code: "unsupported_parameter" },
    ],
  ];
  for (const [name, change, expected] of rows) {
    it(`refuses ${name}`, () => {
      const { status, error } =
        firstOf(checkChatRequest(withChange(change))) ?? assert.fail("taken");
      assert.equal(status, 400);
      assert.equal(error.type, "invalid_request_error");
      assert.match(error.message, expected.message);
      if (expected.param !== undefined) assert.equal(error.param, expected.param);
      if (expected.code !== undefined) assert.equal(error.code, expected.code);
    });
  }

  const taken: [string, Record<string, unknown>][] = [
    ["the least", {}],
    [
      "calls with all their results",
      { messages: [USER, call("c1"), result("c1"), call("c2"), result("c2")] },
    ],
    [
      "tools, a choice and a format",
      {
        tools: [tool({ name: "a", parameters: CLOSED, strict: true })],
        tool_choice: { type: "function", function: { name: "a" } },
        response_format: schemaFormat({ name: "a", strict: true, schema: CLOSED }),
      },
    ],
    [
      "json_object that is mentioned",
      {
        messages: [{ role: "user", content: "As JSON please" }],
        response_format: { type: "json_object" },
      },
    ],
    ["temperature on a model that chats", { model: "gpt-5-chat-latest", temperature: 0.2 }],
    ["usage in a stream", { stream: true, stream_options: { include_usage: true } }],
  ];
  for (const [name, change] of taken) {
    it(`accepts ${name}`, () =>
      assert.equal(firstOf(checkChatRequest(withChange(change))), undefined));
  }
});
