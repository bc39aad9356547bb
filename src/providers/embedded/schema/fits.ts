/**
 * Checks whether a value fits a schema: enough of JSON Schema to choose between candidates without loading
 * a validator. The run's own check of the finished document is complete.
 */

import { isJsonObject, type Json, type JsonObject } from "../../../base/json.ts";
import { fitsFormat } from "./formats.ts";
import { flatten, isSame, toList, toObject, typesOf } from "./shape.ts";

export function fits(schema: Json | undefined, value: Json, root: JsonObject): boolean {
  const flat = flatten(schema, root);
  return (
    fitsType(flat, value) &&
    fitsConstants(flat, value) &&
    fitsKind(flat, value, root) &&
    fitsChoices(flat, value, root)
  );
}

function fitsType(schema: JsonObject, value: Json): boolean {
  if (schema["type"] === undefined) return true;
  return typesOf(schema).some((type) => isType(type, value));
}

function isType(type: string, value: Json): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isJsonObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function fitsConstants(schema: JsonObject, value: Json): boolean {
  if (schema["const"] !== undefined && !isSame(schema["const"], value)) return false;
  const options = schema["enum"];
  return !Array.isArray(options) || options.some((option: Json) => isSame(option, value));
}

function fitsKind(schema: JsonObject, value: Json, root: JsonObject): boolean {
  if (typeof value === "string") return fitsText(schema, value);
  if (typeof value === "number") return fitsNumber(schema, value);
  if (Array.isArray(value)) return fitsArray(schema, value, root);
  return isJsonObject(value) ? fitsObject(schema, value, root) : true;
}

function fitsText(schema: JsonObject, value: string): boolean {
  const { minLength, maxLength, pattern, format } = schema;
  if (!within([...value].length, minLength, maxLength)) return false;
  if (typeof pattern === "string" && toPattern(pattern)?.test(value) === false) return false;
  return typeof format !== "string" || fitsFormat(format, value);
}

function fitsNumber(schema: JsonObject, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (!within(value, minimum, maximum)) return false;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return false;
  return typeof multipleOf !== "number" || Number.isInteger(value / multipleOf);
}

function fitsArray(schema: JsonObject, value: readonly Json[], root: JsonObject): boolean {
  const { minItems, maxItems, uniqueItems, items } = schema;
  if (!within(value.length, minItems, maxItems)) return false;
  if (uniqueItems === true && hasRepeats(value)) return false;
  const first = toList(schema["prefixItems"]);
  return value.every((entry, index) => fits(first[index] ?? items, entry, root));
}

function fitsObject(schema: JsonObject, value: JsonObject, root: JsonObject): boolean {
  const keys = Object.keys(value);
  if (!within(keys.length, schema["minProperties"], schema["maxProperties"])) return false;
  if (toList(schema["required"]).some((key) => value[String(key)] === undefined)) return false;
  const properties = toObject(schema["properties"]);
  const patterns = Object.entries(toObject(schema["patternProperties"]));
  return keys.every((key) => {
    const matching = patterns.flatMap(([pattern, part]) =>
      toPattern(pattern)?.test(key) ? [part] : [],
    );
    const known = Object.hasOwn(properties, key) ? [properties[key]] : [];
    const schemas = [...known, ...matching];
    const all = schemas.length > 0 ? schemas : [schema["additionalProperties"]];
    return all.every((part) => fits(part, value[key] ?? null, root));
  });
}

function fitsChoices(schema: JsonObject, value: Json, root: JsonObject): boolean {
  const { anyOf, oneOf, not } = schema;
  const count = (branches: Json): number =>
    toList(branches).filter((branch) => fits(branch, value, root)).length;
  if (anyOf !== undefined && count(anyOf) === 0) return false;
  if (oneOf !== undefined && count(oneOf) !== 1) return false;
  return not === undefined || !fits(not, value, root);
}

function within(size: number, least: Json | undefined, most: Json | undefined): boolean {
  return !(typeof least === "number" && size < least) && !(typeof most === "number" && size > most);
}

function hasRepeats(values: readonly Json[]): boolean {
  return values.some((value, index) =>
    values.slice(0, index).some((other) => isSame(value, other)),
  );
}

/** `undefined` for an invalid pattern, which the run's own check reports. */
export function toPattern(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "u");
  } catch {
    return undefined;
  }
}
