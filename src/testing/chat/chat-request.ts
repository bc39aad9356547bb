/** The parameters that chat completions refuses in a request, in the vendor's words. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import {
  invalidValue,
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
  isReasoningModel,
} from "../exchange/request-checks.ts";
import { checkMessages } from "./chat-messages.ts";
import { checkOptions } from "./chat-options.ts";

/** The request fields of the published API. */
const PARAMETERS = [
  "audio",
  "frequency_penalty",
  "function_call",
  "functions",
  "logit_bias",
  "logprobs",
  "max_completion_tokens",
  "max_tokens",
  "messages",
  "metadata",
  "modalities",
  "model",
  "moderation",
  "n",
  "parallel_tool_calls",
  "prediction",
  "presence_penalty",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "reasoning_effort",
  "response_format",
  "safety_identifier",
  "seed",
  "service_tier",
  "stop",
  "store",
  "stream",
  "stream_options",
  "temperature",
  "tool_choice",
  "tools",
  "top_logprobs",
  "top_p",
  "user",
  "verbosity",
  "web_search_options",
];

/** `more` are fields that this server accepts in addition. */
export function* checkChatRequest(body: JsonObject, more: readonly string[] = []): RequestCheck {
  if (typeof body["model"] !== "string" || body["model"] === "") {
    yield reject("you must provide a model parameter");
  }
  yield* checkFields(body, [...PARAMETERS, ...more]);
  yield* checkMessages(body["messages"]);
  yield* checkNumber(body, "temperature", { min: 0, max: 2, kind: "decimal" });
  yield* checkNumber(body, "top_p", { min: 0, max: 1, kind: "decimal" });
  yield* checkModelLimits(body);
  yield* checkLengths(body);
  yield* checkOptions(body);
  yield* checkTools(body);
  yield* checkFormat(body);
  if (body["stream_options"] && body["stream"] !== true) {
    yield reject("The 'stream_options' parameter is only allowed when 'stream' is enabled.", {
      param: "stream_options",
    });
  }
}

/** The most tokens of one answer, as the vendor publishes them; the first that matches. */
const MOST_OUTPUT: readonly (readonly [RegExp, number])[] = [
  [/^gpt-3\.5/, 4096],
  [/^gpt-4-(turbo|1106|0125)/, 4096],
  [/^gpt-4\.1/, 32_768],
  [/^(gpt-4o|chatgpt|gpt-5-chat)/, 16_384],
  [/^o\d/, 100_000],
  [/^gpt-5/, 128_000],
];

function* checkLengths(body: JsonObject): RequestCheck {
  const model = String(body["model"]);
  const most = MOST_OUTPUT.find(([name]) => name.test(model))?.[1] ?? Number.POSITIVE_INFINITY;
  for (const param of ["max_tokens", "max_completion_tokens"]) {
    yield* checkNumber(body, param, { min: 1, max: 1e9, kind: "integer" });
    const asked = Number(body[param]);
    if (asked <= most || Number.isNaN(asked)) continue;
    const message = `${param} is too large: ${asked}. This model supports at most ${most} completion tokens, whereas you provided ${asked}.`;
    yield reject(message, { param, code: "invalid_value" });
  }
  const isTwice = Boolean(body["max_tokens"]) && Boolean(body["max_completion_tokens"]);
  if (!isTwice || isReasoningModel(model)) return;
  const message =
    "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
  yield reject(message, { code: "invalid_parameter_combination" });
}

function* checkModelLimits(body: JsonObject): RequestCheck {
  if (!isReasoningModel(String(body["model"]))) return;
  if (body["max_tokens"] !== undefined) {
    yield unsupportedParameter("max_tokens", " Use 'max_completion_tokens' instead.");
  }
  for (const param of ["temperature", "top_p"]) {
    const value = body[param];
    if (value === undefined || value === null || value === 1) continue;
    const message = `Unsupported value: '${param}' does not support ${value} with this model. Only the default (1) value is supported.`;
    yield reject(message, { param, code: "unsupported_value" });
  }
}

function* checkTools(body: JsonObject): RequestCheck {
  const { tools, tool_choice: choice } = body as { tools?: Json; tool_choice?: Json };
  if (tools === undefined || tools === null) {
    if (choice === undefined || choice === null) return;
    const message =
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
    return yield reject(message, { param: "tool_choice" });
  }
  if (!Array.isArray(tools) || tools.length === 0) {
    const message =
      "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.";
    return yield reject(message, { param: "tools", code: "empty_array" });
  }
  const own = /gpt-oss/.test(String(body["model"])) ? GROQ_TOOLS : [];
  for (const [index, tool] of tools.entries()) {
    const isOwn = isJsonObject(tool) && own.includes(String(tool["type"]));
    if (!isOwn) yield* checkTool(tool, `tools[${index}]`);
  }
  yield* checkToolChoice(choice, tools);
}

/** The tools that Groq runs itself, for the models that can use them. */
const GROQ_TOOLS: readonly string[] = ["browser_search", "code_interpreter"];

function* checkTool(tool: Json, place: string): RequestCheck {
  if (!isJsonObject(tool) || (tool["type"] !== "function" && tool["type"] !== "custom")) {
    const type = isJsonObject(tool) ? tool["type"] : tool;
    return yield invalidValue(`${place}.type`, type, ["function", "custom"]);
  }
  if (tool["type"] === "custom") return;
  const definition = tool["function"];
  if (!isJsonObject(definition)) return yield missing(`${place}.function`);
  yield* checkName(`${place}.function.name`, definition["name"]);
  if (definition["parameters"] === undefined) return;
  yield* checkSchema(definition["parameters"], {
    what: `function '${String(definition["name"])}'`,
    param: `${place}.function.parameters`,
    code: "invalid_function_parameters",
    strict: definition["strict"] === true,
  });
}

function* checkToolChoice(choice: Json | undefined, tools: readonly Json[]): RequestCheck {
  if (typeof choice === "string" && !["none", "auto", "required"].includes(choice)) {
    yield invalidValue("tool_choice", choice, ["none", "auto", "required"]);
  }
  if (!isJsonObject(choice) || !isJsonObject(choice["function"])) return;
  const { name } = choice["function"] as { name?: Json };
  const offered = tools.some(
    (tool) =>
      isJsonObject(tool) && isJsonObject(tool["function"]) && tool["function"]["name"] === name,
  );
  if (!offered) {
    yield reject("Tool choice 'function' not found in 'tools' parameter.", {
      param: "tool_choice",
    });
  }
}

function* checkFormat(body: JsonObject): RequestCheck {
  const format = body["response_format"];
  if (!isJsonObject(format)) return;
  const kinds = ["json_object", "json_schema", "text"];
  if (!kinds.includes(String(format["type"]))) {
    yield invalidValue("response_format.type", format["type"], kinds);
  }
  if (format["type"] === "json_object" && !/json/i.test(JSON.stringify(body["messages"]))) {
    const message =
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
    yield reject(message, { param: "messages" });
  }
  if (format["type"] !== "json_schema") return;
  const named = format["json_schema"];
  if (!isJsonObject(named)) return yield missing("response_format.json_schema");
  yield* checkName("response_format.json_schema.name", named["name"]);
  if (named["schema"] === undefined) yield missing("response_format.json_schema.schema");
  yield* checkSchema(named["schema"], {
    what: `response_format '${String(named["name"])}'`,
    param: "response_format",
    code: "invalid_json_schema",
    strict: named["strict"] === true,
  });
}
