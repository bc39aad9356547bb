/** The parameters that Cohere refuses in a request, in its own words as far as those are published. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { checkFields, objectOf, objectsIn } from "./cohere-json.ts";
import { checkMessages } from "./cohere-messages.ts";
import { type CohereCheck, invalid } from "./cohere-rejection.ts";

/** The fields of the published API. */
const PARAMETERS = [
  ...["model", "messages", "stream", "tools", "strict_tools", "tool_choice", "documents"],
  ...["citation_options", "response_format", "safety_mode", "max_tokens", "stop_sequences"],
  ...["temperature", "seed", "frequency_penalty", "presence_penalty", "k", "p", "logprobs"],
  ...["thinking", "priority", "raw_prompting"],
];

export function* checkCohereRequest(body: JsonObject): CohereCheck {
  yield* checkFields(body, PARAMETERS);
  if (typeof body["model"] !== "string" || body["model"] === "") {
    yield { status: 400, message: "a model parameter is required for this endpoint." };
  }
  yield* checkMessages(body["messages"]);
  yield* checkSampling(body);
  yield* checkTools(body);
  yield* checkFormat(body);
  yield* checkThinking(body["thinking"]);
  yield* checkWord(body, "safety_mode", ["CONTEXTUAL", "STRICT", "OFF"]);
  if (Array.isArray(body["documents"]) && body["documents"].length === 0) {
    yield invalid("list of documents must not be empty");
  }
}

const RANGES: readonly (readonly [name: string, min: number, max: number])[] = [
  ["temperature", 0, 2],
  ["p", 0.01, 0.99],
  ["k", 0, 500],
  ["frequency_penalty", 0, 1],
  ["presence_penalty", 0, 1],
  ["max_tokens", 1, Number.MAX_SAFE_INTEGER],
];
const MAX_STOPS = 5;

function* checkSampling(body: JsonObject): CohereCheck {
  for (const [name, min, max] of RANGES) {
    const value = body[name];
    if (value === undefined) continue;
    if (typeof value === "number" && value >= min && value <= max) continue;
    yield invalid(`${name} must be between ${min} and ${max} inclusive.`);
  }
  const { frequency_penalty: frequency, presence_penalty: presence } = body;
  if (frequency !== undefined && presence !== undefined) {
    yield invalid("cannot specify both frequency_penalty and presence_penalty.");
  }
  const { stop_sequences: stops } = body;
  if (stops === undefined) return;
  const isList = Array.isArray(stops) && stops.every((stop) => typeof stop === "string");
  if (!isList || stops.length > MAX_STOPS) {
    yield invalid(`stop_sequences must be a list of at most ${MAX_STOPS} strings.`);
  }
}

function* checkTools(body: JsonObject): CohereCheck {
  const tools = objectsIn(body["tools"]);
  for (const tool of tools) yield* checkTool(tool, body["strict_tools"] === true);
  yield* checkWord(body, "tool_choice", ["REQUIRED", "NONE"]);
  for (const name of ["tool_choice", "strict_tools"]) {
    if (body[name] !== undefined && tools.length === 0) {
      yield invalid(`${name} can only be specified when tools are provided.`);
    }
  }
}

function* checkTool(tool: JsonObject, isStrict: boolean): CohereCheck {
  yield* checkFields(tool, ["type", "function"]);
  const described = objectOf(tool["function"]);
  yield* checkFields(described, ["name", "description", "parameters"]);
  const { name, parameters } = described;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(String(name ?? ""))) {
    yield invalid(
      `tool names can only contain certain characters (A-Za-z0-9_) and can't begin with a digit (provided name: '${name}').`,
    );
  }
  if (!isJsonObject(parameters)) return yield invalid("parameters must be a JSON schema.");
  const { required } = parameters;
  if (isStrict && (!Array.isArray(required) || required.length === 0)) {
    yield invalid("with strict_tools each tool must have at least one required parameter.");
  }
}

function* checkFormat(body: JsonObject): CohereCheck {
  const { response_format: format } = body;
  if (format === undefined) return;
  if (!isJsonObject(format)) return yield invalid("response_format must be an object.");
  yield* checkFields(format, ["type", "json_schema", "schema"]);
  yield* checkWord(format, "type", ["text", "json_object"]);
  if (objectsIn(body["tools"]).length > 0 || body["documents"] !== undefined) {
    yield invalid("response_format is not supported with RAG.");
  }
  const { json_schema: schema } = format;
  if (schema === undefined) return;
  if (!isJsonObject(schema) || schema["type"] !== "object") {
    return yield invalid("the top level type of the schema must be object.");
  }
  yield* checkSchema(schema);
}

const REFUSED_KEYWORDS = [
  ...["allOf", "oneOf", "not", "minimum", "maximum", "minItems", "maxItems"],
  ...["minLength", "maxLength", "uniqueItems"],
];

function* checkSchema(schema: JsonObject): CohereCheck {
  for (const keyword of REFUSED_KEYWORDS) {
    if (schema[keyword] !== undefined)
      yield invalid(`schema keyword '${keyword}' is not supported.`);
  }
  const { type, required } = schema;
  if (type === "object" && (!Array.isArray(required) || required.length === 0)) {
    yield invalid("every object in the schema must have at least one required field.");
  }
  for (const child of childrenOf(schema)) yield* checkSchema(child);
}

function childrenOf(schema: JsonObject): readonly JsonObject[] {
  const named = ["properties", "$defs"].flatMap((name) => Object.values(objectOf(schema[name])));
  return [...named, schema["items"], ...objectsIn(schema["anyOf"])].filter(isJsonObject);
}

function* checkThinking(thinking: Json | undefined): CohereCheck {
  if (thinking === undefined) return;
  if (!isJsonObject(thinking)) return yield invalid("thinking must be an object.");
  yield* checkFields(thinking, ["type", "token_budget"]);
  yield* checkWord(thinking, "type", ["enabled", "disabled"]);
  const { token_budget: budget } = thinking;
  if (budget !== undefined && !(Number.isInteger(budget) && Number(budget) > 0)) {
    yield invalid("thinking.token_budget must be a positive integer.");
  }
}

function* checkWord(body: JsonObject, name: string, known: readonly string[]): CohereCheck {
  const value = body[name];
  if (value === undefined || known.includes(String(value))) return;
  yield invalid(`${name} must be one of: ${known.join(", ")}.`);
}
