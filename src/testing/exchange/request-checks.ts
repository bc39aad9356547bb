/** Checks that both upstreams make: field names, ranges, names, schemas, models. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import {
  invalidType,
  invalidValue,
  missing,
  type Rejection,
  type RequestCheck,
  reject,
  unknownParameter,
} from "./rejection.ts";

/** `prefix` is the path of the object: `input[2].`. */
export function* checkFields(
  object: JsonObject,
  known: readonly string[],
  prefix = "",
): RequestCheck {
  for (const name of Object.keys(object)) {
    if (!known.includes(name)) yield unknownParameter(`${prefix}${name}`);
  }
}

interface Range {
  readonly min: number;
  readonly max: number;
  readonly kind: "integer" | "decimal";
}

/** Missing and null values pass. */
export function* checkNumber(
  body: JsonObject,
  param: string,
  { min, max, kind }: Range,
): RequestCheck {
  const value = body[param];
  if (value === undefined || value === null) return;
  const article = kind === "integer" ? "an integer" : "a decimal";
  if (typeof value !== "number" || (kind === "integer" && !Number.isInteger(value))) {
    return yield invalidType(param, article, value);
  }
  const wrong = value < min ? (["below minimum", ">=", min, "below_min"] as const) : undefined;
  const limit =
    wrong ?? (value > max ? (["above maximum", "<=", max, "above_max"] as const) : undefined);
  if (!limit) return;
  const [side, sign, bound, code] = limit;
  const message = `Invalid '${param}': ${kind} ${side} value. Expected a value ${sign} ${bound}, but got ${value} instead.`;
  yield reject(message, { param, code: `${kind}_${code}_value` });
}

const TIERS = ["auto", "default", "flex", "scale", "priority", "fast"];
const RETENTIONS = ["in_memory", "24h"];

/** Fields about the user, the service tier, caching and moderation: the same in both APIs. */
export function* checkService(body: JsonObject): RequestCheck {
  yield* checkNumber(body, "top_logprobs", { min: 0, max: 20, kind: "integer" });
  yield* checkWord(body, "service_tier", TIERS);
  yield* checkWord(body, "prompt_cache_retention", RETENTIONS);
  for (const param of ["user", "safety_identifier", "prompt_cache_key"]) {
    const value = body[param];
    if (value !== undefined && value !== null && typeof value !== "string") {
      yield invalidType(param, "a string", value);
    }
  }
  const { moderation } = body;
  if (moderation === undefined || moderation === null) return;
  if (!isJsonObject(moderation)) return yield invalidType("moderation", "an object", moderation);
  if (typeof moderation["model"] !== "string") yield missing("moderation.model");
}

function* checkWord(body: JsonObject, param: string, known: readonly string[]): RequestCheck {
  const value = body[param];
  if (value === undefined || value === null || known.includes(String(value))) return;
  yield invalidValue(param, value, known);
}

/** The name of a function or of a schema. */
export function* checkName(param: string, value: Json | undefined): RequestCheck {
  if (value === undefined || value === null) return yield missing(param);
  if (typeof value !== "string") return yield invalidType(param, "a string", value);
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(value)) return;
  const message = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  yield reject(message, { param, code: "invalid_value" });
}

interface SchemaPlace {
  /** The schema as the message names it: `response_format 'city'`. */
  readonly what: string;
  readonly param: string;
  readonly code: string;
  /** True if the vendor must keep the model to the schema, which it can do for few schemas. */
  readonly strict: boolean;
}

/** The root must be an object; a strict one must close every object and require every property. */
export function* checkSchema(schema: Json | undefined, place: SchemaPlace): RequestCheck {
  const { what, param, code } = place;
  const type = isJsonObject(schema) ? schema["type"] : undefined;
  if (!isJsonObject(schema) || type !== "object") {
    const got = typeof type === "string" ? `"${type}"` : "None";
    const message = `Invalid schema for ${what}: schema must be a JSON Schema of 'type: "object"', got 'type: ${got}'.`;
    return yield reject(message, { param, code });
  }
  if (place.strict) yield* checkStrictObjects(schema, place, []);
}

/** Models that think before they answer, by their maker's names. */
export function isReasoningModel(model: string): boolean {
  return /^(o\d|gpt-5(?!-chat))/.test(model);
}

/** Models of the same maker that do not. An unknown name is neither. */
export function isPlainModel(model: string): boolean {
  return /^(gpt-3|gpt-4|chatgpt|gpt-5-chat)/.test(model);
}

function* checkStrictObjects(
  schema: JsonObject,
  place: SchemaPlace,
  path: readonly string[],
): RequestCheck {
  if (schema["type"] === "object" || schema["properties"] !== undefined) {
    yield* checkStrictObject(schema, place, path);
  }
  for (const [name, value] of Object.entries(schema)) {
    for (const [key, child] of childSchemas(name, value)) {
      yield* checkStrictObjects(child, place, [...path, ...key]);
    }
  }
}

function* checkStrictObject(
  schema: JsonObject,
  place: SchemaPlace,
  path: readonly string[],
): RequestCheck {
  if (schema["additionalProperties"] !== false) {
    yield strictRejection(
      place,
      path,
      "'additionalProperties' is required to be supplied and to be false.",
    );
  }
  const names = isJsonObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const absent = names.find((name) => !required.includes(name));
  if (absent === undefined) return;
  const rule =
    "'required' is required to be supplied and to be an array including every key in properties.";
  yield strictRejection(place, path, `${rule} Missing '${absent}'.`);
}

function strictRejection(place: SchemaPlace, path: readonly string[], rule: string): Rejection {
  const context = path.map((step) => `'${step}'`).join(", ");
  const message = `Invalid schema for ${place.what}: In context=(${context}), ${rule}`;
  return reject(message, { param: place.param, code: place.code });
}

function childSchemas(keyword: string, value: Json | undefined): [string[], JsonObject][] {
  if (["properties", "$defs", "definitions"].includes(keyword) && isJsonObject(value)) {
    return Object.entries(value).flatMap(([name, child]) =>
      isJsonObject(child) ? [[[keyword, name], child]] : [],
    );
  }
  if (keyword === "items" && isJsonObject(value)) return [[[keyword], value]];
  if (["anyOf", "allOf", "oneOf"].includes(keyword) && Array.isArray(value)) {
    return value.flatMap((child, index) =>
      isJsonObject(child) ? [[[keyword, String(index)], child]] : [],
    );
  }
  return [];
}
