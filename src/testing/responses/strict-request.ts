/** The parameters that the real Responses API refuses in a request, in its words. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { TOOL_TYPES } from "../../protocol/tools.ts";
import {
  invalidType,
  invalidValue,
  listed,
  missing,
  type RequestCheck,
  reject,
  unsupportedParameter,
} from "../exchange/rejection.ts";
import {
  checkFields,
  checkName,
  checkNumber,
  checkSchema,
  checkService,
  isPlainModel,
  isReasoningModel,
} from "../exchange/request-checks.ts";
import type { ResponseMemory } from "./response-memory.ts";
import { checkInput } from "./strict-input.ts";

/** The request fields of the published API. */
const PARAMETERS = [
  "background",
  "context_management",
  "conversation",
  "include",
  "input",
  "instructions",
  "max_output_tokens",
  "max_tool_calls",
  "metadata",
  "model",
  "moderation",
  "parallel_tool_calls",
  "previous_response_id",
  "prompt",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "reasoning",
  "safety_identifier",
  "service_tier",
  "store",
  "stream",
  "stream_options",
  "temperature",
  "text",
  "tool_choice",
  "tools",
  "top_logprobs",
  "top_p",
  "truncation",
  "user",
];

const INCLUDES = [
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
];

/** The tools that xAI runs itself, under names of its own. */
const XAI_TOOLS = [
  ...["function", "web_search", "x_search", "code_interpreter", "code_execution"],
  ...["collections_search", "file_search", "mcp", "attachment_search"],
];

/** The request check of xAI: the same API, with its own tools and without instructions. */
export function* checkXaiRequest(body: JsonObject, memory: ResponseMemory): RequestCheck {
  const { instructions, tools, ...rest } = body as { instructions?: Json; tools?: Json };
  if (instructions !== undefined && instructions !== null) {
    yield reject("Argument not supported: instructions", { param: "instructions" });
  }
  for (const [index, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    const { type, search_context_size: size } = isJsonObject(tool) ? tool : {};
    if (!XAI_TOOLS.includes(String(type))) {
      yield invalidValue(`tools[${index}].type`, type, XAI_TOOLS);
    }
    if (size !== undefined) {
      yield reject(`Argument not supported: tools[${index}].search_context_size`);
    }
  }
  yield* checkStrictRequest(rest as JsonObject, memory);
}

export function* checkStrictRequest(body: JsonObject, memory: ResponseMemory): RequestCheck {
  if (typeof body["model"] !== "string" || body["model"] === "") yield missing("model");
  yield* checkFields(body, PARAMETERS);
  yield* checkNumber(body, "temperature", { min: 0, max: 2, kind: "decimal" });
  yield* checkNumber(body, "top_p", { min: 0, max: 1, kind: "decimal" });
  yield* checkNumber(body, "max_output_tokens", { min: 16, max: 1e9, kind: "integer" });
  yield* checkService(body);
  yield* checkReasoning(body);
  yield* checkTools(body["tools"]);
  yield* checkToolChoice(body);
  yield* checkInclude(body);
  yield* checkFormat(body);
  if (body["stream_options"] && body["stream"] !== true) {
    yield reject("The 'stream_options' parameter is only allowed when 'stream' is enabled.", {
      param: "stream_options",
    });
  }
  yield* checkPrevious(body, memory);
  yield* checkInput(body, memory);
}

/** An id of a response that the server does not have, with any personality. */
export function* checkPrevious(body: JsonObject, memory: ResponseMemory): RequestCheck {
  const id = body["previous_response_id"];
  if (id === undefined || id === null) return;
  if (typeof id !== "string") return yield invalidType("previous_response_id", "a string", id);
  if (memory.find(id)) return;
  yield reject(`Previous response with id '${id}' not found.`, {
    param: "previous_response_id",
    code: "previous_response_not_found",
  });
}

function* checkReasoning(body: JsonObject): RequestCheck {
  const model = String(body["model"]);
  const isSet = (param: string): boolean => body[param] !== undefined && body[param] !== null;
  if (isReasoningModel(model)) {
    for (const param of ["temperature", "top_p", "top_logprobs"])
      if (isSet(param)) yield unsupportedParameter(param);
  }
  const reasoning = body["reasoning"];
  if (reasoning === undefined || reasoning === null) return;
  if (!isJsonObject(reasoning)) return yield invalidType("reasoning", "an object", reasoning);
  const { effort } = reasoning as { effort?: Json };
  if (effort === undefined || effort === null) return;
  if (isPlainModel(model)) yield unsupportedParameter("reasoning.effort");
  const efforts = effortsOf(model);
  if (efforts.includes(String(effort))) return;
  const message = `Unsupported value: '${String(effort)}' is not supported with the '${model}' model. Supported values are: ${listed(efforts)}.`;
  yield reject(message, { param: "reasoning.effort", code: "unsupported_value" });
}

function effortsOf(model: string): readonly string[] {
  if (/^o\d/.test(model)) return ["low", "medium", "high"];
  if (/^gpt-5(?!\.)/.test(model)) return ["minimal", "low", "medium", "high"];
  return ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
}

function* checkTools(tools: Json | undefined): RequestCheck {
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) return yield invalidType("tools", "an array of objects", tools);
  for (const [index, tool] of tools.entries()) {
    const place = `tools[${index}]`;
    if (!isJsonObject(tool)) return yield invalidType(place, "an object", tool);
    if (!TOOL_TYPES.includes(String(tool["type"]))) {
      return yield invalidValue(`${place}.type`, tool["type"], TOOL_TYPES);
    }
    if (tool["type"] === "function") yield* checkFunctionTool(tool, place);
  }
}

function* checkFunctionTool(tool: JsonObject, place: string): RequestCheck {
  yield* checkName(`${place}.name`, tool["name"]);
  const known = [
    "type",
    "name",
    "description",
    "parameters",
    "strict",
    "output_schema",
    "defer_loading",
  ];
  yield* checkFields(tool, [...known, "allowed_callers"], `${place}.`);
  const { parameters } = tool as { parameters?: Json };
  if (parameters === undefined || parameters === null) return;
  yield* checkSchema(parameters, {
    what: `function '${String(tool["name"])}'`,
    param: `${place}.parameters`,
    code: "invalid_function_parameters",
    strict: tool["strict"] === true,
  });
}

function* checkToolChoice({ tool_choice: choice, tools }: JsonObject): RequestCheck {
  const offered = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  if (choice === "required" && offered.length === 0) {
    yield reject("Tool choice 'required' must be specified with 'tools' parameter.", {
      param: "tool_choice",
    });
  }
  if (typeof choice === "string" && !["none", "auto", "required"].includes(choice)) {
    yield invalidValue("tool_choice", choice, ["none", "auto", "required"]);
  }
  if (!isJsonObject(choice)) return;
  if (choice["type"] === "allowed_tools") yield* checkAllowed(choice, offered);
  if (choice["type"] !== "function") return;
  yield* checkName("tool_choice.name", choice["name"]);
  if (offered.some((tool) => tool["name"] === choice["name"])) return;
  yield reject("Tool choice 'function' not found in 'tools' parameter.", { param: "tool_choice" });
}

function* checkAllowed({ mode, tools }: JsonObject, offered: readonly JsonObject[]): RequestCheck {
  if (mode !== "auto" && mode !== "required") {
    yield invalidValue("tool_choice.mode", mode, ["auto", "required"]);
  }
  if (!Array.isArray(tools) || tools.length === 0) return yield missing("tool_choice.tools");
  for (const allowed of tools.filter(isJsonObject)) {
    const { type, name } = allowed;
    if (offered.some((tool) => tool["type"] === type && tool["name"] === name)) continue;
    yield reject(`Tool choice '${String(name ?? type)}' not found in 'tools' parameter.`, {
      param: "tool_choice",
    });
  }
}

function* checkInclude({ include, model }: JsonObject): RequestCheck {
  if (include === undefined || include === null) return;
  if (!Array.isArray(include)) return yield invalidType("include", "an array of strings", include);
  for (const [index, entry] of include.entries()) {
    if (!INCLUDES.includes(String(entry))) yield invalidValue(`include[${index}]`, entry, INCLUDES);
  }
  if (include.includes("reasoning.encrypted_content") && isPlainModel(String(model))) {
    yield reject("Encrypted content is not supported with this model.", { param: "include" });
  }
}

const VERBOSITIES = ["low", "medium", "high"];

function* checkFormat(body: JsonObject): RequestCheck {
  const text = body["text"];
  const { format, verbosity } = isJsonObject(text) ? text : {};
  if (verbosity !== undefined && !VERBOSITIES.includes(String(verbosity))) {
    yield invalidValue("text.verbosity", verbosity, VERBOSITIES);
  }
  if (!isJsonObject(format)) return;
  const kinds = ["text", "json_object", "json_schema"];
  if (!kinds.includes(String(format["type"]))) {
    yield invalidValue("text.format.type", format["type"], kinds);
  }
  if (format["type"] === "json_object" && !/json/i.test(JSON.stringify(body["input"] ?? ""))) {
    const message =
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
    yield reject(message, { param: "input" });
  }
  if (format["type"] !== "json_schema") return;
  yield* checkName("text.format.name", format["name"]);
  if (format["schema"] === undefined) yield missing("text.format.schema");
  yield* checkSchema(format["schema"], {
    what: `response_format '${String(format["name"])}'`,
    param: "text.format.schema",
    code: "invalid_json_schema",
    strict: format["strict"] === true,
  });
}
