/** What the Messages API refuses in a request's parameters, in the vendor's words. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { blocksOf, listOf, objectOf } from "./messages-json.ts";
import { extraInput, type MessagesCheck, refuse, required } from "./messages-rejection.ts";
import { checkSchema, checkTools } from "./messages-tools.ts";
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
