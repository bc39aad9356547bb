/** The tools and schemas of functions that the service refuses. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import {
  type GeminiCheck,
  invalidArgument,
  invalidField,
  unknownName,
} from "./gemini-rejection.ts";

const TOOLS = [
  "codeExecution",
  "computerUse",
  "enterpriseWebSearch",
  "fileSearch",
  "functionDeclarations",
  "googleMaps",
  "googleSearch",
  "googleSearchRetrieval",
  "mcpServers",
  "retrieval",
  "urlContext",
];

/** Keywords of both schema languages. */
const COMMON = [
  "anyOf",
  "description",
  "enum",
  "format",
  "items",
  "maxItems",
  "maximum",
  "minItems",
  "minimum",
  "properties",
  "propertyOrdering",
  "required",
  "title",
  "type",
];
const JSON_SCHEMA = [
  ...COMMON,
  "$anchor",
  "$defs",
  "$id",
  "$ref",
  "additionalProperties",
  "oneOf",
  "prefixItems",
];
const OPEN_API = [
  ...COMMON,
  "default",
  "example",
  "maxLength",
  "maxProperties",
  "minLength",
  "minProperties",
  "nullable",
  "pattern",
];

export function* checkTools(body: JsonObject, model: string): GeminiCheck {
  const { tools, generationConfig: config } = body as { tools?: Json; generationConfig?: Json };
  yield* checkMix(body, model);
  const names: string[] = [];
  for (const [index, tool] of listOf(tools).entries()) {
    for (const name of Object.keys(tool)) {
      if (!TOOLS.includes(name)) yield unknownName(name, `tools[${index}]`);
    }
    for (const [at, declaration] of listOf(tool["functionDeclarations"]).entries()) {
      yield* checkFunction(declaration, `tools[${index}].function_declarations[${at}]`);
      const name = String(declaration["name"]);
      if (names.includes(name)) {
        yield invalidArgument(`Duplicate function declaration found: ${name}`);
      }
      names.push(name);
    }
  }
  yield* checkToolChoice(body["toolConfig"], names);
  if (!isJsonObject(config)) return;
  const place = "generation_config.response_json_schema";
  yield* checkSchema(config["responseJsonSchema"], place, JSON_SCHEMA);
  yield* checkSchema(config["responseSchema"], "generation_config.response_schema", OPEN_API);
}

/** Functions with tools that the service runs: refused by older models, and by newer ones without the option. */
function* checkMix({ tools, toolConfig }: JsonObject, model: string): GeminiCheck {
  const kinds = listOf(tools).flatMap((tool) => Object.keys(tool));
  const isMixed = kinds.includes("functionDeclarations") && new Set(kinds).size > 1;
  if (!isMixed) return;
  if (/gemini-[12]/.test(model)) {
    return yield invalidArgument("Tool use with function calling is unsupported");
  }
  const config = isJsonObject(toolConfig) ? toolConfig : {};
  if (config["includeServerSideToolInvocations"] === true) return;
  yield invalidArgument(
    "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
  );
}

const FUNCTION = [
  "behavior",
  "description",
  "name",
  "parameters",
  "parametersJsonSchema",
  "response",
  "responseJsonSchema",
];

function* checkFunction(declaration: JsonObject, place: string): GeminiCheck {
  for (const name of Object.keys(declaration)) {
    if (!FUNCTION.includes(name)) yield unknownName(name, place);
  }
  if (!/^[A-Za-z_][\w.:-]{0,127}$/.test(String(declaration["name"] ?? ""))) {
    yield invalidField(
      `${place}.name`,
      "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.",
    );
  }
  const { parameters, parametersJsonSchema } = declaration as Record<string, Json>;
  if (parameters !== undefined && parametersJsonSchema !== undefined) {
    yield invalidField(place, "only one of parameters and parameters_json_schema may be set.");
  }
  yield* checkSchema(parameters, `${place}.parameters`, OPEN_API);
  yield* checkSchema(parametersJsonSchema, `${place}.parameters_json_schema`, JSON_SCHEMA);
}

function* checkToolChoice(toolConfig: Json | undefined, names: readonly string[]): GeminiCheck {
  const config = isJsonObject(toolConfig) ? toolConfig["functionCallingConfig"] : undefined;
  if (!isJsonObject(config)) return;
  const { mode, allowedFunctionNames: allowed } = config as Record<string, Json>;
  if (!["AUTO", "ANY", "NONE", "VALIDATED", undefined].includes(mode as string)) {
    yield invalidArgument(
      `Invalid value at 'tool_config.function_calling_config.mode' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), "${String(mode)}"`,
    );
  }
  if (!Array.isArray(allowed)) return;
  const place = "tool_config.function_calling_config.allowed_function_names";
  if (mode !== "ANY" && mode !== "VALIDATED") {
    yield invalidField(place, "only allowed when the mode is ANY or VALIDATED.");
  }
  const unknown = allowed.find((name) => !names.includes(String(name)));
  if (unknown !== undefined) {
    yield invalidField(place, `${String(unknown)} is not in the function declarations.`);
  }
}

function* checkSchema(
  schema: Json | undefined,
  place: string,
  keywords: readonly string[],
): GeminiCheck {
  if (!isJsonObject(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (!keywords.includes(keyword)) yield unknownName(keyword, place);
    for (const [name, child] of childrenOf(keyword, value)) {
      yield* checkSchema(child, `${place}.${name}`, keywords);
    }
  }
  const isBare = schema["type"] === "OBJECT" || keywords === OPEN_API;
  const { properties } = schema;
  if (isBare && isJsonObject(properties) && Object.keys(properties).length === 0) {
    yield invalidField(`${place}.properties`, "should be non-empty for OBJECT type");
  }
}

function childrenOf(keyword: string, value: Json | undefined): [string, Json][] {
  if ((keyword === "properties" || keyword === "$defs") && isJsonObject(value)) {
    return Object.values(value).map((child, index) => [
      `properties[${index}].value`,
      child ?? null,
    ]);
  }
  if (Array.isArray(value) && ["anyOf", "oneOf", "prefixItems"].includes(keyword)) {
    return value.map((child: Json, index) => [`any_of[${index}]`, child]);
  }
  return keyword === "items" || keyword === "additionalProperties"
    ? [[keyword, value ?? null]]
    : [];
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
