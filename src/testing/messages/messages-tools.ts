/** What the Messages API refuses in the tools of a request and in their schemas. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { listOf, objectOf } from "./messages-json.ts";
import { extraInput, type MessagesCheck, refuse, required } from "./messages-rejection.ts";

export function* checkTools(body: JsonObject): MessagesCheck {
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

export function* checkSchema(schema: JsonObject, place: string): MessagesCheck {
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
