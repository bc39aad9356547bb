/**
 * Reduces a JSON schema to keywords that Gemini knows. It refuses a request with an unknown keyword. We
 * check what is left out here when the answer or the call is complete.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

/** The documented keywords of `responseJsonSchema` and `parametersJsonSchema`. */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set([
  "$id",
  "$anchor",
  "type",
  "format",
  "title",
  "description",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "required",
  "propertyOrdering",
]);

export function toGeminiSchema(schema: JsonObject): JsonObject {
  if (typeof schema["$ref"] === "string") return { $ref: toRef(schema["$ref"]), ...toDefs(schema) };
  const written: Record<string, Json> = {};
  for (const [keyword, value] of Object.entries(withoutAllOf(schema))) {
    if (value === undefined) continue;
    if (PLAIN_KEYWORDS.has(keyword)) written[keyword] = value;
    else Object.assign(written, toKeyword(keyword, value));
  }
  return { ...written, ...toDefs(schema) };
}

function toKeyword(keyword: string, value: Json): JsonObject {
  switch (keyword) {
    case "properties":
      return isJsonObject(value) ? { properties: mapSchemas(value) } : {};
    case "items":
    case "additionalProperties":
      return { [keyword]: toSchema(value) };
    case "prefixItems":
    case "anyOf":
    case "oneOf":
      return Array.isArray(value) ? { [keyword]: value.map(toSchema) } : {};
    case "enum":
      return Array.isArray(value) ? toEnum(value) : {};
    case "const":
      return toEnum([value]);
    default:
      return {};
  }
}

/** `true` and `false` are schemas too; the API accepts them for `additionalProperties` alone. */
function toSchema(value: Json): Json {
  return isJsonObject(value) ? toGeminiSchema(value) : value;
}

function mapSchemas(schemas: JsonObject): JsonObject {
  const entries = Object.entries(schemas).map(([name, schema]) => [
    name,
    isJsonObject(schema) ? toGeminiSchema(schema) : {},
  ]);
  return Object.fromEntries(entries);
}

/** The API accepts only texts and numbers as values. */
function toEnum(values: readonly Json[]): JsonObject {
  const listed = values.filter((value) => typeof value === "string" || typeof value === "number");
  return listed.length > 0 ? { enum: listed } : {};
}

/** Merges schemas that must all hold. If two have the same keyword, the later one is used. */
function withoutAllOf(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf)) return schema;
  const parts = [rest, ...allOf.filter(isJsonObject).map(withoutAllOf)];
  const properties = Object.assign({}, ...parts.map((part) => part["properties"]));
  const required = parts.flatMap(({ required }) => (Array.isArray(required) ? required : []));
  return {
    ...Object.assign({}, ...parts),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

function toDefs({ $defs, definitions }: { $defs?: Json; definitions?: Json }): JsonObject {
  const named = [definitions, $defs].filter(isJsonObject);
  return named.length > 0 ? { $defs: Object.assign({}, ...named.map(mapSchemas)) } : {};
}

function toRef(ref: string): string {
  return ref.replace(/^#\/definitions\//, "#/$defs/");
}
