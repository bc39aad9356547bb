import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { firstOf } from "../../../src/testing/exchange/rejection.ts";
import { sealReasoning } from "../../../src/testing/responses/reasoning-seal.ts";
import { createResponseMemory } from "../../../src/testing/responses/response-memory.ts";
import { checkStrictRequest } from "../../../src/testing/responses/strict-request.ts";

const USER = { role: "user", content: [{ type: "input_text", text: "Hi" }] };
const MESSAGE = {
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: "Yes" }],
};
const call = (id: string, more = {}): JsonObject => ({
  type: "function_call",
  call_id: id,
  name: "read",
  arguments: "{}",
  ...more,
});
const result = (id: string): JsonObject => ({
  type: "function_call_output",
  call_id: id,
  output: "ok",
});
const thinking = (id: string, more = {}): JsonObject => ({
  type: "reasoning",
  id,
  summary: [],
  ...more,
});
const tool = (more = {}): JsonObject => ({
  type: "function",
  name: "read",
  parameters: { type: "object" },
  ...more,
});
const schemaFormat = (more: JsonObject): JsonObject => ({
  format: { type: "json_schema", ...more },
});
const CLOSED = { type: "object", properties: {}, required: [], additionalProperties: false };

/** One answer is kept: thinking, then an unanswered call. */
const memory = createResponseMemory();
memory.keep("resp_kept", [{ type: "message", role: "user", content: "Hi" }], [
  thinking("rs_kept"),
  call("call_kept", { id: "fc_kept" }),
] as unknown as Item[]);

function check(change: Record<string, unknown>): ReturnType<typeof firstOf> {
  const body = JSON.parse(JSON.stringify({ model: "m", input: [USER], ...change }));
  return firstOf(checkStrictRequest(body, memory));
}

interface Expected {
  readonly message: RegExp;
  readonly param?: string;
  readonly code?: string;
  readonly status?: number;
}

describe("strict request checks", () => {
  const rows: [string, Record<string, unknown>, Expected][] = [
    ["no model", { model: undefined }, { message: /'model'/, code: "missing_required_parameter" }],
    ["no input", { input: undefined }, { message: /'input'/, code: "missing_required_parameter" }],
    [
      "an unknown parameter",
      { max_tokens: 5 },
      {
        message: /^Unknown parameter: 'max_tokens'\.$/,
        param: "max_tokens",
        code: "unknown_parameter",
      },
    ],
    [
      "a nested tool schema",
      { tools: [{ type: "function", function: { name: "read" } }] },
      {
        message: /^Missing required parameter: 'tools\[0\]\.name'\.$/,
        param: "tools[0].name",
        code: "missing_required_parameter",
      },
    ],
    [
      "an unknown field of a tool",
      { tools: [tool({ colour: "red" })] },
      { message: /Unknown parameter: 'tools\[0\]\.colour'/ },
    ],
    [
      "an unknown tool",
      { tools: [{ type: "hammer" }] },
      { message: /Invalid value: 'hammer'/, param: "tools[0].type", code: "invalid_value" },
    ],
    [
      "a strict tool left open",
      { tools: [tool({ strict: true })] },
      { message: /'additionalProperties' is required/, code: "invalid_function_parameters" },
    ],
    [
      "a forced tool that is not offered",
      { tools: [tool()], tool_choice: { type: "function", name: "write" } },
      { message: /not found in 'tools'/ },
    ],
    [
      "a required tool where none is offered",
      { tool_choice: "required" },
      { message: /must be specified with 'tools'/ },
    ],
    [
      "an orphan output",
      { input: [USER, result("call_x")] },
      {
        message: /^No tool call found for function call output with call_id call_x\.$/,
        param: "input",
      },
    ],
    [
      "a call without its output",
      { input: [USER, call("call_x")] },
      { message: /^No tool output found for function call call_x\.$/, param: "input" },
    ],
    [
      "a chained call without its output",
      { previous_response_id: "resp_kept" },
      { message: /^No tool output found for function call call_kept\.$/ },
    ],
    [
      "text after a chained call",
      { previous_response_id: "resp_kept", input: "Hi" },
      { message: /No tool output found/ },
    ],
    [
      "a tool_result item",
      { input: [{ type: "tool_result", tool_call_id: "c", content: "" }] },
      { message: /^Invalid value: 'tool_result'/, param: "input[0].type", code: "invalid_value" },
    ],
    [
      "a tool_call item",
      { input: [USER, { type: "tool_call", id: "c" }] },
      { message: /^Invalid value: 'tool_call'/, param: "input[1].type", code: "invalid_value" },
    ],
    ["an item without a type", { input: [{ text: "Hi" }] }, { message: /'input\[0\]\.type'/ }],
    [
      "an unknown role",
      { input: [{ role: "tool", content: "" }] },
      { message: /Invalid value: 'tool'/, param: "input[0].role" },
    ],
    [
      "a chat part",
      { input: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] },
      { message: /Invalid value: 'text'/, param: "input[0].content[0]" },
    ],
    [
      "input text of an assistant",
      { input: [{ role: "assistant", content: [{ type: "input_text", text: "Hi" }] }] },
      { message: /Supported values are: 'output_text' and 'refusal'/ },
    ],
    [
      "an unknown field of an item",
      { input: [{ ...USER, colour: "red" }] },
      { message: /Unknown parameter: 'input\[0\]\.colour'/ },
    ],
    [
      "a call without its id",
      { input: [USER, { type: "function_call", name: "read", arguments: "{}" }] },
      { message: /'input\[1\]\.call_id'/ },
    ],
    [
      "arguments that are not text",
      { input: [USER, call("c", { arguments: {} }), result("c")] },
      { message: /expected a string, but got an object/ },
    ],
    [
      "an id of another kind",
      { input: [USER, call("c", { id: "call_1" }), result("c")] },
      { message: /Expected an ID that begins with 'fc'/, param: "input[1].id" },
    ],
    [
      "an unknown previous id",
      { previous_response_id: "resp_x" },
      {
        message: /^Previous response with id 'resp_x' not found\.$/,
        code: "previous_response_not_found",
        param: "previous_response_id",
      },
    ],
    [
      "temperature on o3",
      { model: "o3", temperature: 1 },
      {
        message: /^Unsupported parameter: 'temperature' is not supported with this model\.$/,
        code: "unsupported_parameter",
      },
    ],
    [
      "temperature on gpt-5",
      { model: "gpt-5.1-codex", temperature: 0 },
      { message: /'temperature' is not supported/ },
    ],
    [
      "a temperature out of range",
      { temperature: 3 },
      { message: /<= 2, but got 3/, code: "decimal_above_max_value" },
    ],
    [
      "too few output tokens",
      { max_output_tokens: 5 },
      { message: />= 16, but got 5/, code: "integer_below_min_value" },
    ],
    [
      "effort none on gpt-5",
      { model: "gpt-5-mini", reasoning: { effort: "none" } },
      {
        message: /'none' is not supported with the 'gpt-5-mini' model/,
        code: "unsupported_value",
        param: "reasoning.effort",
      },
    ],
    [
      "effort none on o3",
      { model: "o3", reasoning: { effort: "none" } },
      { message: /Supported values are: 'low', 'medium', and 'high'/ },
    ],
    [
      "effort on a model that does not think",
      { model: "gpt-4o", reasoning: { effort: "none" } },
      { message: /'reasoning\.effort' is not supported/ },
    ],
    [
      "thinking that was not kept",
      { store: false, input: [USER, thinking("rs_x"), MESSAGE] },
      { message: /^Item with id 'rs_x' not found\. Items are not persisted/, status: 404 },
    ],
    [
      "thinking sealed elsewhere",
      { input: [USER, thinking("rs_x", { encrypted_content: sealReasoning("rs_y") }), MESSAGE] },
      { message: /could not be verified/, code: "invalid_encrypted_content" },
    ],
    [
      "thinking without what it led to",
      { input: [USER, thinking("rs_x", { encrypted_content: sealReasoning("rs_x") }), USER] },
      {
        message:
          /^Item 'rs_x' of type 'reasoning' was provided without its required following item\.$/,
      },
    ],
    [
      "thinking at the end",
      { input: [USER, thinking("rs_kept")] },
      { message: /required following item/ },
    ],
    [
      "a kept call without its thinking",
      { input: [USER, call("call_kept", { id: "fc_kept" }), result("call_kept")] },
      { message: /without its required 'reasoning' item: 'rs_kept'/ },
    ],
    [
      "a reference to nothing",
      { input: [USER, { type: "item_reference", id: "msg_x" }] },
      { message: /Item with id 'msg_x' not found/, status: 404 },
    ],
    [
      "an unknown include",
      { include: ["everything"] },
      { message: /Invalid value: 'everything'/, param: "include[0]" },
    ],
    [
      "encrypted thinking of a model that does not think",
      { model: "gpt-4o", include: ["reasoning.encrypted_content"] },
      { message: /Encrypted content is not supported/ },
    ],
    [
      "a schema in the chat form",
      { text: schemaFormat({ json_schema: { name: "a", schema: CLOSED } }) },
      { message: /'text\.format\.name'/ },
    ],
    [
      "a schema without a schema",
      { text: schemaFormat({ name: "a" }) },
      { message: /'text\.format\.schema'/ },
    ],
    [
      "a schema whose root is not an object",
      { text: schemaFormat({ name: "a", schema: { type: "string" } }) },
      { message: /'type: "object"', got 'type: "string"'/, code: "invalid_json_schema" },
    ],
    [
      "JSON that is not mentioned",
      { text: { format: { type: "json_object" } } },
      { message: /must contain the word 'json'/, param: "input" },
    ],
    [
      "stream_options without stream",
      { stream_options: {} },
      { message: /only allowed when 'stream'/ },
    ],
  ];
  for (const [name, change, expected] of rows) {
    it(`refuses ${name}`, () => {
      const { status, error } = check(change) ?? assert.fail("taken");
      assert.equal(status, expected.status ?? 400);
      assert.match(error.message, expected.message);
      if (expected.param !== undefined) assert.equal(error.param, expected.param);
      if (expected.code !== undefined) assert.equal(error.code, expected.code);
    });
  }

  const sealed = { encrypted_content: sealReasoning("rs_x") };
  const taken: [string, Record<string, unknown>][] = [
    ["a text", { input: "Hi" }],
    [
      "a whole replay",
      {
        store: false,
        input: [USER, thinking("rs_x", sealed), call("c"), result("c"), MESSAGE, USER],
      },
    ],
    [
      "a chain with its output",
      { previous_response_id: "resp_kept", input: [result("call_kept")] },
    ],
    [
      "kept thinking by its id",
      {
        input: [
          USER,
          thinking("rs_kept"),
          call("call_kept", { id: "fc_kept" }),
          result("call_kept"),
        ],
      },
    ],
    ["effort none on gpt-5.1", { model: "gpt-5.1", reasoning: { effort: "none" } }],
    [
      "a model it does not know",
      { model: "qwen3", temperature: 0.2, reasoning: { effort: "none" } },
    ],
    ["a strict schema", { text: schemaFormat({ name: "a", strict: true, schema: CLOSED }) }],
  ];
  for (const [name, change] of taken) {
    it(`accepts ${name}`, () => assert.equal(check(change), undefined));
  }
});
