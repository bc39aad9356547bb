/**
 * Reduces a JSON schema to what the API can enforce: every object closed, and no limits on numbers or
 * lengths. Refused keywords are described to the model in the description. The answer is checked against
 * the original schema.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

export function toOutputSchema(schema: JsonObject): JsonObject {
  if (schema["$ref"] !== undefined) {
    return withDefinitions({ $ref: schema["$ref"] }, schema);
  }
  const kept: Record<string, Json | undefined> = {};
  const told: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    if (isTaken(keyword, value)) kept[keyword] = value;
    else if (!HANDLED.has(keyword)) told.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  const description = describe(schema["description"], told);
  return withDefinitions(
    {
      ...kept,
      ...(description === undefined ? {} : { description }),
      ...inside(schema),
      ...(isObject(schema) ? closed(schema) : {}),
    },
    schema,
  );
}

const TAKEN: ReadonlySet<string> = new Set(["type", "enum", "const", "title", "default"]);
const FORMATS: ReadonlySet<Json> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);
/** Keywords that are written again, or that do not limit the answer. */
const HANDLED: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$defs",
  "definitions",
  "description",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "oneOf",
  "allOf",
]);

function isTaken(keyword: string, value: Json): boolean {
  if (keyword === "format") return FORMATS.has(value);
  if (keyword === "minItems") return value === 0 || value === 1;
  return TAKEN.has(keyword);
}

function describe(description: Json | undefined, told: readonly string[]): Json | undefined {
  if (told.length === 0) return description;
  const rules = `(${told.join(", ")})`;
  return typeof description === "string" ? `${description} ${rules}` : rules;
}

function isObject({ type, properties }: JsonObject): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || !!properties;
}

function closed({ type, properties, required }: JsonObject): JsonObject {
  return {
    type: type ?? "object",
    properties: isJsonObject(properties) ? mapSchemas(properties) : {},
    ...(required === undefined ? {} : { required }),
    additionalProperties: false,
  };
}

function inside({ items, anyOf, oneOf, allOf }: JsonObject): JsonObject {
  const any = anyOf ?? oneOf;
  return {
    ...(items === undefined ? {} : { items: toSchema(items) }),
    ...(Array.isArray(any) ? { anyOf: any.map(toSchema) } : {}),
    ...(Array.isArray(allOf) ? { allOf: allOf.map(toSchema) } : {}),
  };
}

function withDefinitions(schema: JsonObject, { $defs, definitions }: JsonObject): JsonObject {
  return {
    ...schema,
    ...(isJsonObject($defs) ? { $defs: mapSchemas($defs) } : {}),
    ...(isJsonObject(definitions) ? { definitions: mapSchemas(definitions) } : {}),
  };
}

function mapSchemas(schemas: JsonObject): JsonObject {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, toSchema(schema ?? {})]);
  return Object.fromEntries(entries);
}

function toSchema(schema: Json): Json {
  return isJsonObject(schema) ? toOutputSchema(schema) : schema;
}
