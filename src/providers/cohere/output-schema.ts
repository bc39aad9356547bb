/**
 * Reduces a JSON schema to what the API can enforce: no limits on numbers, lengths or lists. The answer is
 * checked against the original schema.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

/** The reduced schema. Undefined if the API cannot express it; the instructions then describe it. */
export function toOutputSchema(schema: JsonObject): JsonObject | undefined {
  return schema["type"] === "object" ? toSchema(schema) : undefined;
}

function toSchema(schema: JsonObject): JsonObject | undefined {
  if (UNSAYABLE.some((keyword) => schema[keyword] !== undefined)) return undefined;
  if (schema["type"] === "object" && !hasRequired(schema)) return undefined;
  const kept: Record<string, Json> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || !isTaken(keyword, value)) continue;
    const inside = toKeyword(keyword, value);
    if (inside === undefined) return undefined;
    // `anyOf` in place of `oneOf`: the model is held to the same alternatives.
    kept[keyword === "oneOf" ? "anyOf" : keyword] = inside;
  }
  return kept;
}

const UNSAYABLE = ["allOf", "not", "if", "patternProperties", "propertyNames"];

/** The API refuses an object without required properties. */
function hasRequired({ required }: JsonObject): boolean {
  return Array.isArray(required) && required.length > 0;
}

/** Keywords that the API refuses. Without them only the vendor's own check is lost. */
const LIMITS: ReadonlySet<string> = new Set([
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "contains"],
  ...["minProperties", "maxProperties", "$schema", "$id"],
]);
const FORMATS: ReadonlySet<Json> = new Set(["date-time", "uuid", "date", "time"]);

function isTaken(keyword: string, value: Json): boolean {
  if (keyword === "format") return FORMATS.has(value);
  // The API does not support anchors and lookahead.
  if (keyword === "pattern") return typeof value === "string" && !/[\^$]|\?[=!]/.test(value);
  return !LIMITS.has(keyword);
}

/** The value of a keyword; undefined if a schema inside it cannot be expressed. */
function toKeyword(keyword: string, value: Json): Json | undefined {
  switch (keyword) {
    case "properties":
    case "$defs":
    case "definitions":
      return isJsonObject(value) ? mapSchemas(value) : value;
    case "anyOf":
    case "oneOf":
      return Array.isArray(value) ? listSchemas(value) : value;
    case "items":
    case "additionalProperties":
      return isJsonObject(value) ? toSchema(value) : value;
    default:
      return value;
  }
}

function mapSchemas(schemas: JsonObject): JsonObject | undefined {
  const mapped: Record<string, Json> = {};
  for (const [name, schema = {}] of Object.entries(schemas)) {
    const one = isJsonObject(schema) ? toSchema(schema) : schema;
    if (one === undefined) return undefined;
    mapped[name] = one;
  }
  return mapped;
}

function listSchemas(schemas: readonly Json[]): Json | undefined {
  const mapped = schemas.map((schema) => (isJsonObject(schema) ? toSchema(schema) : schema));
  return mapped.every((schema) => schema !== undefined) ? mapped : undefined;
}
