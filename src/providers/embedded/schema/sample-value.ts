/**
 * The plainest value that fits a schema, for values that a text does not state.
 *
 * It prefers what the schema itself offers (`default`, `examples`), then values that read as "not known".
 * `variant` asks for a different value of the same schema, for lists without repeats.
 */

import type { Json, JsonObject } from "../../../base/json.ts";
import { fits } from "./fits.ts";
import { sampleFormat } from "./formats.ts";
import { samplePattern } from "./sample-pattern.ts";
import { flatten, isSame, merge, toList, toObject, typesOf } from "./shape.ts";

/** Below this depth only required values are made: recursive schemas do not end by themselves. */
const MAX_DEPTH = 12;

export interface SamplePlace {
  readonly root: JsonObject;
  readonly depth: number;
}

/** `undefined` if no valid value was found. */
export function sampleValue(
  schema: Json | undefined,
  place: SamplePlace,
  variant = 0,
): Json | undefined {
  if (place.depth > MAX_DEPTH) return undefined;
  const flat = flatten(schema, place.root);
  let skip = variant;
  let last: Json | undefined;
  for (const candidate of candidates(flat, place, variant)) {
    if (!fits(flat, candidate, place.root)) continue;
    last = candidate;
    if (skip-- === 0 || variant === 0) return candidate;
  }
  return last;
}

function* candidates(schema: JsonObject, place: SamplePlace, variant: number): Generator<Json> {
  if (schema["const"] !== undefined) yield schema["const"];
  if (schema["default"] !== undefined) yield schema["default"];
  yield* toList(schema["examples"]);
  if (schema["enum"] !== undefined) {
    const options = toList(schema["enum"]);
    if (options.includes(null)) yield null;
    yield* options;
    return;
  }
  yield* fromBranches(schema, place, variant);
  const types = typesOf(schema);
  if (types.includes("null")) yield null;
  for (const type of types.length > 0 ? types : ["string", "null", "object"]) {
    yield* ofType(type, schema, place, variant);
  }
}

function* fromBranches(schema: JsonObject, place: SamplePlace, variant: number): Generator<Json> {
  const { anyOf, oneOf, ...rest } = schema;
  const branches = anyOf ?? oneOf;
  if (branches === undefined) return;
  const others: JsonObject = anyOf !== undefined && oneOf !== undefined ? { ...rest, oneOf } : rest;
  const values = toList(branches).map((branch) => {
    const merged = merge(others, flatten(branch, place.root));
    return sampleValue(merged, { ...place, depth: place.depth + 1 }, variant);
  });
  if (values.includes(null)) yield null;
  for (const value of values) if (value !== undefined) yield value;
}

function* ofType(
  type: string,
  schema: JsonObject,
  place: SamplePlace,
  variant: number,
): Generator<Json> {
  switch (type) {
    case "string":
      return yield* texts(schema, variant);
    case "integer":
    case "number":
      return yield* numbers(schema, type, variant);
    case "boolean":
      yield false;
      return yield true;
    case "array":
      return yield* arrays(schema, place, variant);
    case "object":
      return yield* objects(schema, place, variant);
    default:
      return;
  }
}

function* texts(schema: JsonObject, variant: number): Generator<string> {
  const { format, pattern, minLength, maxLength } = schema;
  if (typeof format === "string") yield* optional(sampleFormat(format));
  const least = typeof minLength === "number" ? minLength : 0;
  if (typeof pattern === "string") {
    for (let extra = 0; extra <= least + variant + 1; extra++) yield samplePattern(pattern, extra);
  }
  yield "unknown";
  for (let index = 2; index <= variant + 2; index++) yield `unknown ${index}`;
  yield "";
  const most = typeof maxLength === "number" ? maxLength : least + variant;
  for (let length = Math.max(1, least); length <= Math.min(most, least + variant); length++)
    yield "x".repeat(length);
  yield "x".repeat(least);
  for (let index = 0; index <= variant; index++)
    yield String(index).padStart(Math.max(1, least), "0");
}

function optional(value: string | undefined): string[] {
  return value === undefined ? [] : [value];
}

function* numbers(schema: JsonObject, type: string, variant: number): Generator<number> {
  const least = bound(schema, ["minimum", "exclusiveMinimum"]);
  const most = bound(schema, ["maximum", "exclusiveMaximum"]);
  const step = typeof schema["multipleOf"] === "number" ? schema["multipleOf"] : 1;
  const tries = variant + 3;
  if (least === undefined || least <= 0)
    for (let index = 0; index <= tries; index++) yield index * step;
  if (least !== undefined) {
    const first = Math.ceil(least / step);
    for (let index = 0; index <= tries; index++) yield (first + index) * step;
  }
  if (most !== undefined) {
    const last = Math.floor(most / step);
    for (let index = 0; index <= tries; index++) yield (last - index) * step;
  }
  if (least !== undefined && most !== undefined && type === "number") {
    for (let index = 1; index <= tries; index++)
      yield least + ((most - least) * index) / (tries + 1);
  }
}

/** The tighter of two given bounds. Both are tried as they are and one step further. */
function bound(schema: JsonObject, keywords: readonly [string, string]): number | undefined {
  const given = keywords.flatMap((keyword) => {
    const value = schema[keyword];
    return typeof value === "number" ? [value] : [];
  });
  if (given.length === 0) return undefined;
  return keywords[0] === "minimum" ? Math.max(...given) : Math.min(...given);
}

function* arrays(schema: JsonObject, place: SamplePlace, variant: number): Generator<Json> {
  const first = toList(schema["prefixItems"]);
  const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
  const most = typeof schema["maxItems"] === "number" ? schema["maxItems"] : least + variant;
  for (let length = least; length <= Math.min(most, least + variant); length++) {
    const values: Json[] = [];
    for (let index = 0; index < length; index++) {
      const value = sampleEntry(schema, first[index] ?? schema["items"], { place, taken: values });
      if (value === undefined) return;
      values.push(value);
    }
    yield values;
  }
}

/** The position of the next entry of a list, and the entries before it. */
interface EntrySpot {
  readonly place: SamplePlace;
  readonly taken: readonly Json[];
}

/**
 * The next entry of a list. Entries differ only if the list requires it: looking for another value tries
 * many, and lists of lists would multiply that at each level.
 */
export function sampleEntry(
  list: JsonObject,
  schema: Json | undefined,
  { place, taken }: EntrySpot,
): Json | undefined {
  const deeper = { ...place, depth: place.depth + 1 };
  if (list["uniqueItems"] !== true) return sampleValue(schema, deeper);
  for (let variant = 0; variant <= taken.length * 2 + 2; variant++) {
    const value = sampleValue(schema, deeper, variant);
    if (value !== undefined && !taken.some((other) => isSame(other, value))) return value;
  }
  return sampleValue(schema, deeper);
}

function* objects(schema: JsonObject, place: SamplePlace, variant: number): Generator<Json> {
  const properties = toObject(schema["properties"]);
  const deeper = { ...place, depth: place.depth + 1 };
  for (let attempt = 0; attempt <= variant; attempt++) {
    const made: Record<string, Json> = {};
    for (const key of toList(schema["required"]).map(String)) {
      const part = Object.hasOwn(properties, key)
        ? properties[key]
        : schema["additionalProperties"];
      const value = sampleValue(part, deeper, attempt);
      if (value === undefined) return;
      made[key] = value;
    }
    addMissing(made, schema, deeper);
    yield made;
  }
}

/** Adds properties up to `minProperties`: optional ones first, then names of our own. */
export function addMissing(
  made: Record<string, Json>,
  schema: JsonObject,
  place: SamplePlace,
): void {
  const least = typeof schema["minProperties"] === "number" ? schema["minProperties"] : 0;
  const properties = toObject(schema["properties"]);
  const spare = Array.from({ length: least }, (_, index) => `key${index + 1}`);
  for (const key of [...Object.keys(properties), ...spare]) {
    if (Object.keys(made).length >= least) return;
    if (made[key] !== undefined) continue;
    const part = Object.hasOwn(properties, key) ? properties[key] : schema["additionalProperties"];
    const value = sampleValue(part, place);
    if (value !== undefined) made[key] = value;
  }
}
