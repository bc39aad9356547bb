/**
 * Flattens JSON Schema: references are resolved and `allOf` is merged, so that the rest of this folder sees
 * one plain object of keywords at a time. Choices (`anyOf`, `oneOf`) stay choices.
 */

import { isJsonObject, type Json, type JsonObject } from "../../../base/json.ts";

/**
 * The most references that are followed before a schema counts as endless. People do not write longer
 * chains.
 */
const MAX_HOPS = 32;

/** `true` and `{}` allow everything; `false` becomes a schema that no value fits. */
export function flatten(schema: Json | undefined, root: JsonObject, hops = 0): JsonObject {
  if (schema === false) return { not: {} };
  if (!isJsonObject(schema) || hops > MAX_HOPS) return {};
  const { $ref, allOf, ...rest } = schema;
  let flat: JsonObject = rest;
  if (typeof $ref === "string") flat = merge(flat, flatten(follow($ref, root), root, hops + 1));
  for (const part of Array.isArray(allOf) ? allOf : []) {
    flat = merge(flat, flatten(part, root, hops + 1));
  }
  return flat;
}

/** The schema that requires both. If both have a keyword, the tighter value is used. */
export function merge(a: JsonObject, b: JsonObject): JsonObject {
  const merged: Record<string, Json | undefined> = { ...a };
  for (const [keyword, value] of Object.entries(b)) {
    const own = merged[keyword];
    merged[keyword] = own === undefined ? value : mergeKeyword(keyword, own, value);
  }
  return merged;
}

/** The types that a value may have. If `type` is missing, those that the keywords are about. */
export function typesOf(schema: JsonObject): readonly string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((name) => typeof name === "string");
  const hint = HINTS.find(({ keywords }) =>
    keywords.some((keyword) => schema[keyword] !== undefined),
  );
  return hint ? [hint.type] : [];
}

const HINTS = [
  { type: "object", keywords: ["properties", "required", "additionalProperties", "minProperties"] },
  { type: "array", keywords: ["items", "prefixItems", "minItems", "uniqueItems"] },
  { type: "string", keywords: ["minLength", "maxLength", "pattern", "format"] },
  {
    type: "number",
    keywords: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  },
];

export function toList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

export function toObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return canonical(a) === canonical(b);
}

/** JSON text with the keys in order: equal values have equal text. */
export function canonical(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

/**
 * Follows a reference inside the document: `#`, `#/$defs/name`, `#name`. Any other reference allows
 * everything.
 */
function follow(reference: string, root: JsonObject): Json | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return findAnchor(root, reference.replace(/^#/, ""));
  let at: Json | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const key = decodeStep(step);
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isJsonObject(at) ? at[key] : undefined;
  }
  return at;
}

function decodeStep(step: string): string {
  const plain = step.replace(/~1/g, "/").replace(/~0/g, "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    // A stray percent sign is part of the name.
    return plain;
  }
}

function findAnchor(root: JsonObject, name: string): Json | undefined {
  const definitions = { ...toObject(root["definitions"]), ...toObject(root["$defs"]) };
  return Object.values(definitions).find(
    (definition) => isJsonObject(definition) && definition["$anchor"] === name,
  );
}

function mergeKeyword(keyword: string, a: Json, b: Json | undefined): Json | undefined {
  if (b === undefined || isSame(a, b)) return a;
  switch (keyword) {
    case "properties":
      return mergeProperties(toObject(a), toObject(b));
    case "required":
      return [...new Set([...toList(a), ...toList(b)])];
    case "enum":
      return toList(a).filter((value) => toList(b).some((other) => isSame(value, other)));
    case "type":
      return mergeTypes(a, b);
    case "minimum":
    case "exclusiveMinimum":
    case "minLength":
    case "minItems":
    case "minProperties":
      return Math.max(Number(a), Number(b));
    case "maximum":
    case "exclusiveMaximum":
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return Math.min(Number(a), Number(b));
    case "multipleOf":
      return leastCommonMultiple(Number(a), Number(b));
    case "items":
    case "additionalProperties":
      return a === false || b === false ? false : merge(toObject(a), toObject(b));
    case "anyOf":
    case "oneOf":
      return distribute(toList(a), toList(b));
    default:
      return b;
  }
}

function mergeProperties(a: JsonObject, b: JsonObject): JsonObject {
  const merged: Record<string, Json | undefined> = { ...a };
  for (const [key, schema] of Object.entries(b)) {
    const own = merged[key];
    merged[key] = own === undefined || schema === undefined ? schema : { allOf: [own, schema] };
  }
  return merged;
}

function mergeTypes(a: Json, b: Json): Json {
  const first = typesOf({ type: a });
  const second = typesOf({ type: b });
  const both = first.flatMap((type) => {
    if (second.includes(type)) return [type];
    if (type === "integer" && second.includes("number")) return ["integer"];
    return type === "number" && second.includes("integer") ? ["integer"] : [];
  });
  return both;
}

/** One branch of each: (a or b) and (c or d) is ac or ad or bc or bd. */
function distribute(a: readonly Json[], b: readonly Json[]): Json {
  return a.flatMap((first) => b.map((second) => ({ allOf: [first, second] })));
}

function leastCommonMultiple(a: number, b: number): number {
  if (!Number.isInteger(a) || !Number.isInteger(b)) return Math.max(a, b);
  let x = a;
  let y = b;
  while (y !== 0) [x, y] = [y, x % y];
  return (a / x) * b;
}
