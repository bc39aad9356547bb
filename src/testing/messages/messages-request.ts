/** What the Messages API refuses in a request's parameters, in the vendor's words. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { blocksOf, listOf, objectOf } from "./messages-json.ts";
import { extraInput, type MessagesCheck, refuse, required } from "./messages-rejection.ts";
import { checkTurns } from "./messages-turns.ts";
import type { ThoughtMemory } from "./thinking-seal.ts";

/** The request fields of the published API, with those that only older models take. */
const PARAMETERS = [
  "cache_control",
  "container",
  "context_management",
  "diagnostics",
  "fallbacks",
  "inference_geo",
  "max_tokens",
  "mcp_servers",
  "messages",
  "metadata",
  "model",
  "output_config",
  "service_tier",
  "speed",
  "stop_sequences",
  "stream",
  "system",
  "temperature",
  "thinking",
  "tool_choice",
  "tools",
  "top_k",
  "top_p",
];

export function* checkMessagesRequest(body: JsonObject, memory: ThoughtMemory): MessagesCheck {
  if (typeof body["model"] !== "string" || body["model"] === "") yield required("model");
  for (const name of Object.keys(body)) if (!PARAMETERS.includes(name)) yield extraInput(name);
  const { max_tokens } = body as { max_tokens?: Json };
  if (max_tokens === undefined) yield required("max_tokens");
  else if (!Number.isInteger(max_tokens) || Number(max_tokens) < 1) {
    yield refuse("max_tokens: Input should be greater than or equal to 1");
  }
  yield* checkTurns(body, memory);
  yield* checkThinking(body);
  yield* checkSampling(body);
  yield* checkTools(body);
  yield* checkSystem(body["system"]);
  yield* checkOutput(objectOf(body["output_config"]));
  yield* checkCacheMarks(body);
  yield* checkService(body);
}

function* checkService({ stop_sequences: stops, service_tier: tier, metadata }: JsonObject) {
  for (const stop of Array.isArray(stops) ? stops : []) {
    if (typeof stop !== "string" || stop.trim() === "") {
      yield refuse("stop_sequences: each stop sequence must contain non-whitespace");
    }
  }
  if (tier !== undefined && tier !== "auto" && tier !== "standard_only") {
    yield refuse("service_tier: Input should be 'auto' or 'standard_only'");
  }
  for (const name of Object.keys(objectOf(metadata))) {
    if (name !== "user_id") yield extraInput(`metadata.${name}`);
  }
}

const THINKING = ["adaptive", "between_tools", "disabled", "enabled"];
/**
 * By the maker's names: models without a budget, and models whose thinking cannot be switched off.
 */
const NO_BUDGET = /claude-(opus-4-[78]|(opus|sonnet|haiku|fable|mythos)-[5-9])/;
const ALWAYS_THINKS = /claude-((opus|sonnet)-5-5|fable|mythos)/;
const ADAPTIVE = /claude-((opus|sonnet)-4-[6-9]|(opus|sonnet|haiku|fable|mythos)-[5-9]|mythos)/;

function* checkThinking(body: JsonObject): MessagesCheck {
  const thinking = body["thinking"];
  if (thinking === undefined) return;
  const { type, budget_tokens: budget } = objectOf(thinking) as {
    type?: Json;
    budget_tokens?: Json;
  };
  if (!THINKING.includes(String(type))) {
    return yield refuse(
      `thinking: Input tag '${type}' found using 'type' does not match any of the expected tags: ${THINKING.map((word) => `'${word}'`).join(", ")}`,
    );
  }
  yield* checkThinkingOfModel(String(type), String(body["model"]));
  if (type !== "enabled") return;
  if (typeof budget !== "number") return yield required("thinking.enabled.budget_tokens");
  if (budget < 1024) {
    yield refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
  }
  if (budget >= Number(body["max_tokens"])) {
    yield refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
}

function* checkThinkingOfModel(type: string, model: string): MessagesCheck {
  const isClaude = model.startsWith("claude-");
  const isRefused =
    (type === "enabled" && NO_BUDGET.test(model)) ||
    (type === "disabled" && ALWAYS_THINKS.test(model)) ||
    (type === "between_tools" && !/claude-sonnet-5-5/.test(model)) ||
    (type === "adaptive" && isClaude && !ADAPTIVE.test(model));
  if (isRefused) {
    yield refuse(
      `"thinking.type.${type}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`,
    );
  }
}

function* checkSampling(body: JsonObject): MessagesCheck {
  const { type } = objectOf(body["thinking"]);
  const isThinking = type === "enabled" || type === "adaptive";
  const { temperature, top_p, model } = body as { temperature?: Json; top_p?: Json; model?: Json };
  if (temperature !== undefined && (Number(temperature) < 0 || Number(temperature) > 1)) {
    yield refuse("temperature: Input should be less than or equal to 1");
  }
  if (isThinking && temperature !== undefined && temperature !== 1) {
    yield refuse("`temperature` may only be set to 1 when thinking is enabled.");
  }
  if (temperature !== undefined && top_p !== undefined) {
    yield refuse(
      "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    );
  }
  if (NO_BUDGET.test(String(model)) && (temperature !== undefined || top_p !== undefined)) {
    yield refuse("`temperature` is deprecated for this model.");
  }
}

function* checkTools(body: JsonObject): MessagesCheck {
  const { tools, tool_choice: choice } = body as { tools?: Json; tool_choice?: Json };
  for (const [index, tool] of listOf(tools).entries()) {
    if (tool["type"] === undefined || tool["type"] === "custom") {
      yield* checkTool(tool, `tools.${index}.custom`);
    } else yield* checkOwnTool(tool, `tools.${index}`);
  }
  if (!isJsonObject(choice)) return;
  if (listOf(tools).length === 0) {
    yield refuse("tool_choice: tool_choice may only be specified while providing tools");
  }
  const isForced = choice["type"] === "any" || choice["type"] === "tool";
  if (isForced && objectOf(body["thinking"])["type"] === "enabled") {
    yield refuse("Thinking may not be enabled when tool_choice forces tool use.");
  }
  const isOffered = listOf(tools).some(({ name }) => name === choice["name"]);
  if (choice["type"] === "tool" && !isOffered) {
    yield refuse(`tool_choice.tool.name: Tool '${choice["name"]}' not found in provided tools`);
  }
}

/** The vendor's own tools by their types, each with its one name. */
const OWN_TOOLS: readonly [RegExp, string][] = [
  [/^web_search_(20250305|20260209|20260318)$/, "web_search"],
  [/^web_fetch_(20250910|20260209|20260309|20260318)$/, "web_fetch"],
  [/^code_execution_(20250522|20250825|20260120|20260521)$/, "code_execution"],
  [/^advisor_20260301$/, "advisor"],
  [/^tool_search_tool_regex(_20251119)?$/, "tool_search_tool_regex"],
  [/^tool_search_tool_bm25(_20251119)?$/, "tool_search_tool_bm25"],
  [/^memory_20250818$/, "memory"],
  [/^bash_(20241022|20250124)$/, "bash"],
  [/^text_editor_20250124$/, "str_replace_editor"],
  [/^text_editor_(20250429|20250728)$/, "str_replace_based_edit_tool"],
  [/^computer_(20250124|20251124)$/, "computer"],
];

const SEARCH_FIELDS = [
  ...["type", "name", "max_uses", "allowed_domains", "blocked_domains", "user_location"],
  ...["cache_control", "defer_loading", "strict", "allowed_callers", "response_inclusion"],
];

function* checkOwnTool(tool: JsonObject, place: string): MessagesCheck {
  const type = String(tool["type"]);
  if (type === "mcp_toolset") return;
  const name = OWN_TOOLS.find(([form]) => form.test(type))?.[1];
  if (name === undefined) {
    return yield refuse(
      `${place}: Input tag '${type}' found using 'type' does not match any of the expected tags`,
    );
  }
  if (tool["name"] === undefined) yield required(`${place}.${type}.name`);
  else if (tool["name"] !== name) yield refuse(`${place}.${type}.name: Input should be '${name}'`);
  if (!type.startsWith("web_search_")) return;
  for (const field of Object.keys(tool)) {
    if (!SEARCH_FIELDS.includes(field)) yield extraInput(`${place}.${type}.${field}`);
  }
}

const TOOL_FIELDS = [
  "type",
  "name",
  "description",
  "input_schema",
  "cache_control",
  "strict",
  "defer_loading",
  "allowed_callers",
  "input_examples",
  "eager_input_streaming",
];

function* checkTool(tool: JsonObject, place: string): MessagesCheck {
  for (const name of Object.keys(tool)) {
    if (!TOOL_FIELDS.includes(name)) yield extraInput(`${place}.${name}`);
  }
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(tool["name"] ?? ""))) {
    yield refuse(`${place}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  }
  if (!isJsonObject(tool["input_schema"])) return yield required(`${place}.input_schema`);
  if (tool["input_schema"]["type"] !== "object") {
    yield refuse(`${place}.input_schema.type: Input should be 'object'`);
  }
  if (tool["strict"] === true) yield* checkSchema(tool["input_schema"], place);
}

function* checkSystem(system: Json | undefined): MessagesCheck {
  for (const { text } of listOf(system)) {
    if (typeof text !== "string" || text === "") {
      yield refuse("system: text content blocks must be non-empty");
    }
  }
}

const EFFORTS = ["low", "medium", "high", "xhigh", "max"];

function* checkOutput({ effort, format, ...rest }: JsonObject): MessagesCheck {
  for (const name of Object.keys(rest)) yield extraInput(`output_config.${name}`);
  if (effort !== undefined && !EFFORTS.includes(String(effort))) {
    yield refuse(
      `output_config.effort: Input should be ${EFFORTS.map((word) => `'${word}'`).join(", ")}`,
    );
  }
  if (format === undefined) return;
  const { type, schema, ...more } = objectOf(format) as { type?: Json; schema?: Json };
  for (const name of Object.keys(more)) yield extraInput(`output_config.format.${name}`);
  if (type !== "json_schema")
    yield refuse("output_config.format.type: Input should be 'json_schema'");
  if (!isJsonObject(schema)) return yield required("output_config.format.schema");
  yield* checkSchema(schema, "output_config.format.schema");
}

const REFUSED_KEYWORDS = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "patternProperties",
  "oneOf",
  "not",
];

function* checkSchema(schema: JsonObject, place: string): MessagesCheck {
  const { type, additionalProperties } = schema;
  if (type === "object" && additionalProperties !== false) {
    yield refuse(
      `${place}: For 'object' type, 'additionalProperties' must be explicitly set to false`,
    );
  }
  for (const keyword of REFUSED_KEYWORDS) {
    if (schema[keyword] === undefined) continue;
    yield refuse(`${place}: For '${type}' type, property '${keyword}' is not supported`);
  }
  for (const child of childrenOf(schema)) yield* checkSchema(child, place);
}

function childrenOf(schema: JsonObject): readonly JsonObject[] {
  const named = ["properties", "$defs", "definitions"].flatMap((keyword) =>
    Object.values(objectOf(schema[keyword])),
  );
  const listed = ["anyOf", "allOf"].flatMap((keyword) => listOf(schema[keyword]));
  return [...named, schema["items"], ...listed].filter(isJsonObject);
}

const MAX_CACHE_MARKS = 4;

function* checkCacheMarks(body: JsonObject): MessagesCheck {
  const blocks = [
    ...listOf(body["tools"]),
    ...listOf(body["system"]),
    ...listOf(body["messages"]).flatMap(blocksOf),
  ];
  const count = blocks.filter((block) => isJsonObject(block["cache_control"])).length;
  if (count > MAX_CACHE_MARKS) {
    yield refuse(
      `A maximum of ${MAX_CACHE_MARKS} blocks with cache_control may be provided. Found ${count}.`,
    );
  }
}
