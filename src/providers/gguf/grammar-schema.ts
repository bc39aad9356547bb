/**
 * Converts a JSON schema to the keywords from which `node-llama-cpp` makes a grammar. It knows types,
 * `const`, `enum`, `oneOf`, objects, arrays and references, and reads an unknown keyword as null. So other
 * keywords are replaced here, or the schema is opened to any JSON. It requires every property that is
 * named.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

/**
 * The rule for optional properties. With `write` they are always written, which every schema allows. With
 * `or null` a model may leave one out by writing null; `dropNulls` removes these nulls.
 */
export type OptionalRule = "write" | "or null";

export function toGrammarSchema(schema: JsonObject, optional: OptionalRule): JsonObject {
  return convert(schema, optional);
}

/** The arguments without the nulls that stand for properties that the model left out. */
export function dropNulls(value: Json, schema: JsonObject | undefined): Json {
  return schema ? withoutNulls(value, schema, schema) : value;
}

function withoutNulls(value: Json, given: Json | undefined, root: JsonObject): Json {
  const schema = resolve(given, root);
  if (!isJsonObject(schema)) return value;
  if (Array.isArray(value)) {
    return value.map((entry) => withoutNulls(entry, schema["items"], root));
  }
  if (!isJsonObject(value)) return value;
  const properties = objectIn(schema, "properties");
  const required = namesIn(schema["required"]);
  const isMeant = (name: string): boolean =>
    required.includes(name) || allowsNull(resolve(properties[name] ?? true, root) ?? true);
  const kept = Object.entries(value).filter(([name, field]) => field !== null || isMeant(name));
  return Object.fromEntries(
    kept.map(([name, field]) => [name, withoutNulls(field ?? null, properties[name], root)]),
  );
}

/** The schema that a reference points to, or the schema itself. */
function resolve(schema: Json | undefined, root: JsonObject): Json | undefined {
  const ref = isJsonObject(schema) ? schema["$ref"] : undefined;
  const [, list, name] = /^#\/(\$defs|definitions)\/(.+)$/.exec(String(ref)) ?? [];
  return list === undefined || name === undefined ? schema : objectIn(root, list)[name];
}

const BASIC = ["string", "number", "integer", "boolean", "null"];

const ANY: JsonObject = {
  oneOf: [
    { type: ["string", "number", "boolean", "null"] },
    { type: "object", additionalProperties: true },
    { type: "array" },
  ],
};

function convert(schema: Json | undefined, optional: OptionalRule): JsonObject {
  if (!isJsonObject(schema)) return ANY;
  const converted = convertKind(schema, optional);
  const defs = { ...objectIn(schema, "definitions"), ...objectIn(schema, "$defs") };
  const names = Object.keys(defs);
  if (names.length === 0) return converted;
  const $defs = Object.fromEntries(names.map((name) => [name, convert(defs[name], optional)]));
  return { ...converted, $defs };
}

function convertKind(schema: JsonObject, optional: OptionalRule): JsonObject {
  const { $ref: ref, const: constant, enum: values, type } = schema;
  if (typeof ref === "string") return { $ref: ref.replace("#/definitions/", "#/$defs/") };
  if (constant !== undefined) return isScalar(constant) ? { const: constant } : ANY;
  if (Array.isArray(values)) return values.every(isScalar) ? { enum: values } : ANY;
  const choices = schema["oneOf"] ?? schema["anyOf"];
  if (Array.isArray(choices)) return { oneOf: choices.map((entry) => convert(entry, optional)) };
  const all = schema["allOf"];
  if (Array.isArray(all)) return all.length === 1 ? convert(all[0], optional) : ANY;
  return Array.isArray(type) ? convertTypes(schema, type, optional) : convertType(schema, optional);
}

function convertTypes(
  schema: JsonObject,
  types: readonly Json[],
  optional: OptionalRule,
): JsonObject {
  if (types.every((type) => BASIC.includes(String(type)))) return { type: types };
  return { oneOf: types.map((type) => convertType({ ...schema, type }, optional)) };
}

function convertType(schema: JsonObject, optional: OptionalRule): JsonObject {
  const { type } = schema;
  if (type === "object" || schema["properties"] !== undefined) {
    return convertObject(schema, optional);
  }
  if (type === "array") return convertArray(schema, optional);
  if (type === "string") return { type, ...pick(schema, ["minLength", "maxLength"]) };
  return typeof type === "string" && BASIC.includes(type) ? { type } : ANY;
}

function convertObject(schema: JsonObject, optional: OptionalRule): JsonObject {
  const properties = Object.entries(objectIn(schema, "properties"));
  const required = namesIn(schema["required"]);
  const fields = properties.flatMap(([name, field]): [string, JsonObject][] => {
    const converted = convert(field, optional);
    if (required.includes(name)) return [[name, converted]];
    if (optional === "or null") return [[name, { oneOf: [converted, { type: "null" }] }]];
    // A reference to a schema that contains it would never end.
    return JSON.stringify(field).includes('"$ref"') ? [] : [[name, converted]];
  });
  const more = schema["additionalProperties"];
  const isOpen = more === true || (more === undefined && fields.length === 0);
  return {
    type: "object",
    properties: Object.fromEntries(fields),
    additionalProperties: isJsonObject(more) ? convert(more, optional) : isOpen,
  };
}

function convertArray(schema: JsonObject, optional: OptionalRule): JsonObject {
  const { items, prefixItems } = schema;
  return {
    type: "array",
    ...(items === undefined ? {} : { items: convert(items, optional) }),
    ...(Array.isArray(prefixItems)
      ? { prefixItems: prefixItems.map((entry) => convert(entry, optional)) }
      : {}),
    ...pick(schema, ["minItems", "maxItems"]),
  };
}

function allowsNull(schema: Json): boolean {
  if (!isJsonObject(schema)) return true;
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return values.includes(null);
  if (type !== undefined) return type === "null" || (Array.isArray(type) && type.includes("null"));
  const choices = schema["oneOf"] ?? schema["anyOf"];
  return Array.isArray(choices) ? choices.some(allowsNull) : true;
}

function isScalar(value: Json): boolean {
  return typeof value !== "object" || value === null;
}

function objectIn(schema: JsonObject, name: string): JsonObject {
  const value = schema[name];
  return isJsonObject(value) ? value : {};
}

function namesIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function pick(schema: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => (typeof schema[name] === "number" ? [[name, schema[name]]] : [])),
  );
}
