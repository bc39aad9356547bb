/**
 * The refusals of Ollama for a chat request, in its own words: a status and `{"error": "text"}`. Types are checked as
 * its JSON decoder does, which stops at the first field that does not fit.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { findOllamaModel, type OllamaUpstreamModel, withTag } from "./ollama-models.ts";

export interface OllamaRejection {
  readonly status: number;
  readonly error: string;
}

type Check = Generator<OllamaRejection, void>;

/** The body, or the rejection if it is not valid. */
export function parseOllamaBody(text: string): JsonObject | OllamaRejection {
  if (text.trim() === "") return bad("missing request body");
  const value = tryParseJson(text);
  if (isJsonObject(value)) return value;
  if (value !== undefined)
    return bad(`json: cannot unmarshal ${kindOf(value)} into Go value of type api.ChatRequest`);
  const [first = ""] = text.trim();
  return bad(
    /[[{"]/.test(first)
      ? "unexpected EOF"
      : `invalid character '${first}' looking for beginning of value`,
  );
}

export function isRejection(value: JsonObject | OllamaRejection): value is OllamaRejection {
  return typeof value["status"] === "number" && typeof value["error"] === "string";
}

export function* checkOllamaRequest(
  body: JsonObject,
  models: ReadonlyMap<string, OllamaUpstreamModel>,
): Check {
  yield* checkTypes(body);
  const name = body["model"];
  if (typeof name !== "string" || name === "") return yield bad("model is required");
  const model = findOllamaModel(models, name);
  if (!model) return yield { status: 404, error: `model '${name}' not found` };
  yield* checkAbilities(body, name, model);
  yield* checkOptions(body["options"]);
  const { top_logprobs: likely = 0 } = body;
  if (Number(likely) < 0 || Number(likely) > 20) {
    yield bad("top_logprobs must be between 0 and 20");
  }
  yield* checkFormat(body["format"]);
}

/** The Go type of each field, which the real server names in its refusal. */
const FIELDS: readonly (readonly [name: string, kinds: readonly string[], type: string])[] = [
  ["model", ["string"], "string"],
  ["messages", ["array"], "[]api.Message"],
  ["stream", ["bool"], "bool"],
  ["tools", ["array"], "api.Tools"],
  ["options", ["object"], "map[string]interface {}"],
  ["keep_alive", ["string", "number"], "api.Duration"],
  ["logprobs", ["bool"], "bool"],
  ["top_logprobs", ["number"], "int"],
  ["truncate", ["bool"], "bool"],
  ["shift", ["bool"], "bool"],
];

const MESSAGE_FIELDS: typeof FIELDS = [
  ["role", ["string"], "string"],
  ["content", ["string"], "string"],
  ["thinking", ["string"], "string"],
  ["images", ["array"], "[]api.ImageData"],
  ["tool_calls", ["array"], "[]api.ToolCall"],
  ["tool_name", ["string"], "string"],
  ["tool_call_id", ["string"], "string"],
];

function* checkTypes(body: JsonObject): Check {
  yield* checkFields(body, FIELDS, "ChatRequest.");
  yield* checkThink(body["think"]);
  for (const message of listOf(body["messages"])) yield* checkMessage(message);
  for (const tool of listOf(body["tools"])) {
    if (!isJsonObject(tool)) yield mismatch("ChatRequest.tools", tool, "api.Tool");
  }
}

function* checkMessage(message: Json): Check {
  const place = "ChatRequest.messages.";
  if (!isJsonObject(message)) {
    return yield mismatch("ChatRequest.messages", message, "api.Message");
  }
  yield* checkFields(message, MESSAGE_FIELDS, place);
  for (const image of listOf(message["images"])) yield* checkImage(image);
  for (const call of listOf(message["tool_calls"])) {
    const made = isJsonObject(call) ? call["function"] : undefined;
    const given = isJsonObject(made) ? made["arguments"] : undefined;
    if (given !== undefined && !isJsonObject(given)) {
      const type = "map[string]interface {}";
      yield mismatch(`${place}tool_calls.function.arguments`, given, type);
    }
  }
}

/** An image is bytes in base64; the head of a `data:` URL is neither. */
function* checkImage(image: Json): Check {
  if (typeof image !== "string") {
    return yield mismatch("ChatRequest.messages.images", image, "api.ImageData");
  }
  const at = image.search(/[^A-Za-z0-9+/=]/);
  if (at >= 0) yield bad(`illegal base64 data at input byte ${at}`);
}

function* checkThink(think: Json | undefined): Check {
  if (think === undefined || think === null || typeof think === "boolean") return;
  if (typeof think === "string" && ["high", "medium", "low", "max"].includes(think)) return;
  if (typeof think !== "string") return yield bad("think must be a boolean or string");
  yield bad(
    `invalid think value: "${think}" (must be "high", "medium", "low", "max", true, or false)`,
  );
}

function* checkFields(object: JsonObject, fields: typeof FIELDS, place: string): Check {
  for (const [name, kinds, type] of fields) {
    const value = object[name];
    if (value === undefined || value === null || kinds.includes(kindOf(value))) continue;
    yield mismatch(`${place}${name}`, value, type);
  }
}

function* checkAbilities(body: JsonObject, name: string, model: OllamaUpstreamModel): Check {
  const can = (ability: string): boolean => model.capabilities.includes(ability);
  const { think } = body;
  if (think !== undefined && think !== null && think !== false && !can("thinking")) {
    yield bad(`"${name}" does not support thinking`);
  }
  if (!can("completion")) yield bad(`"${name}" does not support chat`);
  if (listOf(body["tools"]).length > 0 && !can("tools")) {
    yield bad(`registry.ollama.ai/library/${withTag(name)} does not support tools`);
  }
  const hasImages = listOf(body["messages"]).some(
    (message) => isJsonObject(message) && listOf(message["images"]).length > 0,
  );
  if (hasImages && !can("vision")) {
    yield { status: 500, error: "this model is missing data required for image input" };
  }
}

const INTEGERS = ["num_predict", "num_ctx", "num_keep", "seed", "top_k", "repeat_last_n"];
const DECIMALS = [
  "temperature",
  "top_p",
  "min_p",
  "typical_p",
  "repeat_penalty",
  "presence_penalty",
  "frequency_penalty",
];

/** Unknown options pass, with a line in the server's log. */
function* checkOptions(options: Json | undefined): Check {
  if (!isJsonObject(options)) return;
  const { stop } = options;
  if (stop !== undefined && !Array.isArray(stop)) {
    yield { status: 500, error: 'option "stop" must be of type array' };
  }
  for (const [name, value] of Object.entries(options)) {
    const type = INTEGERS.includes(name) ? "integer" : DECIMALS.includes(name) ? "float32" : "";
    if (type === "" || typeof value === "number" || value === null) continue;
    yield { status: 500, error: `option "${name}" must be of type ${type}` };
  }
}

function* checkFormat(format: Json | undefined): Check {
  if (format === undefined || format === null || format === "" || format === "json") return;
  if (isJsonObject(format)) return;
  const shown = JSON.stringify(JSON.stringify(format));
  const wanted = 'expected "json" or a valid JSON Schema object';
  yield { status: 500, error: `invalid format: ${shown}; ${wanted}` };
}

function bad(error: string): OllamaRejection {
  return { status: 400, error };
}

function mismatch(place: string, value: Json, type: string): OllamaRejection {
  return bad(
    `json: cannot unmarshal ${kindOf(value)} into Go struct field ${place} of type ${type}`,
  );
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : value === null ? "null" : typeof value;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
