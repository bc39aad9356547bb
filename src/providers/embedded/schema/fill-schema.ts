/**
 * Fills a JSON schema from evidence, in one of two ways.
 *
 * An answer (`fillHeld`) contains only values that the evidence states under the key's name. If a required
 * key has no value, the whole schema stays unfilled: a guess would look like an answer.
 *
 * The arguments of a forced call (`fillSchema`) must have values, so a gap takes a value that no other key
 * has used, or else the plainest value that is valid. The result fits the schema for every keyword that
 * `fits.ts` knows, if such a value can be made.
 */

import { isJsonObject, type Json, type JsonObject } from "../../../base/json.ts";
import { runWithin } from "../../../base/run-within.ts";
import { coerce } from "./coerce.ts";
import { createEvidence, type Evidence } from "./evidence.ts";
import { findOptions, findScalars } from "./find-scalars.ts";
import { findStatedOptions, findStatedScalars, toStatedEntry } from "./find-stated.ts";
import { fits } from "./fits.ts";
import { createLeftovers, type Leftovers } from "./leftovers.ts";
import { addMissing, sampleEntry, sampleValue } from "./sample-value.ts";
import { flatten, isSame, merge, toList, toObject, typesOf } from "./shape.ts";

/** The depth to which values are searched; below, only required values are made. */
const MAX_DEPTH = 8;

/** A position in the schema and in the evidence. */
interface Spot {
  readonly key: string;
  readonly evidence: Evidence;
  readonly gaps: Gaps;
  readonly root: JsonObject;
  readonly depth: number;
}

/** The sources of values, and the rule for a required key without one. */
interface Gaps {
  readonly scalars: typeof findScalars;
  readonly options: typeof findOptions;
  /** Values of a key whose schema has no type. */
  untyped(key: string, evidence: Evidence): readonly Json[];
  /** Converts an entry of a list to a type, or returns nothing. */
  readonly entry: typeof coerce;
  /** Values without a name; undefined if they are not used. */
  readonly leftovers: Leftovers | undefined;
  /** The value of a required key that was not found. */
  value(part: Json | undefined, spot: Spot): Json | undefined;
  /** True if an object or list is filled even if a value is missing. */
  readonly areFilled: boolean;
}

/** The limit on a schema's time. A schema comes from a client, and may ask for a billion values. */
const FILL = { limitMs: 500, what: "The schema" };

/** Rejects with `invalid_request` if it takes too long. */
export function fillSchema(schema: JsonObject, evidence: Evidence): Json {
  return runWithin(FILL, () => fillAll(schema, evidence));
}

function fillAll(schema: JsonObject, evidence: Evidence): Json {
  const gaps = madeUp(evidence);
  return fillFrom(schema, evidence, gaps) ?? sampleValue(schema, { root: schema, depth: 0 }) ?? {};
}

/**
 * The value that the evidence states, or the first required key without one; empty if no single key is
 * missing.
 */
export type FilledSchema = { readonly value: Json } | { readonly missing: string };

/** Rejects with `invalid_request` if it takes too long. */
export function fillHeld(schema: JsonObject, evidence: Evidence): FilledSchema {
  const missing: string[] = [];
  const value = runWithin(FILL, () => fillFrom(schema, evidence, onlyStated(missing)) ?? null);
  // Null alone is not an answer: it means that nothing is known.
  return value === null ? { missing: missing[0] ?? "" } : { value };
}

function fillFrom(schema: JsonObject, evidence: Evidence, gaps: Gaps): Json | undefined {
  const whole = evidence.documents.filter((one) => isTelling(one) && fits(schema, one, schema));
  const isClear = gaps.areFilled || withoutRepeats(whole).length === 1;
  if (whole[0] !== undefined && isClear) return whole[0];
  return fill(schema, { key: "", evidence, gaps, root: schema, depth: 0 });
}

function madeUp(evidence: Evidence): Gaps {
  return {
    scalars: findScalars,
    options: findOptions,
    untyped: (key, { lookUp }) => lookUp(key),
    entry: coerce,
    leftovers: createLeftovers(evidence),
    value: (part, spot) => claim(part, spot) ?? sampleValue(part, spot),
    areFilled: true,
  };
}

/** Collects the keys without a value in `missing`. */
function onlyStated(missing: string[]): Gaps {
  return {
    scalars: findStatedScalars,
    options: findStatedOptions,
    untyped: (key, { stated }) => stated(key),
    entry: toStatedEntry,
    leftovers: undefined,
    value(part, { key, root, evidence }) {
      const flat = flatten(part, root);
      // A constant must be stated like any other value: "approved" that can only be true is still a
      // decision.
      const [only] = findStatedOptions([flat["const"] ?? null], key, evidence);
      if (only !== undefined) return only;
      if (fits(flat, null, root)) return null;
      missing.push(key);
      return undefined;
    },
    areFilled: false,
  };
}

/** `{}` fits many schemas and contains nothing. */
function isTelling(document: Json): boolean {
  return (Array.isArray(document) ? document : Object.keys(toObject(document))).length > 0;
}

/** The value from the evidence, or `undefined` if there is none. */
function fill(schema: Json | undefined, spot: Spot): Json | undefined {
  const flat = flatten(schema, spot.root);
  if (spot.depth > MAX_DEPTH || flat["const"] !== undefined) return undefined;
  for (const candidate of findCandidates(flat, spot)) {
    if (fits(flat, candidate, spot.root)) return candidate;
  }
  return undefined;
}

function* findCandidates(schema: JsonObject, spot: Spot): Generator<Json> {
  const { key, evidence, gaps } = spot;
  if (schema["enum"] !== undefined) {
    return yield* gaps.options(toList(schema["enum"]), key, evidence);
  }
  if (schema["anyOf"] !== undefined || schema["oneOf"] !== undefined) {
    return yield* fillBranches(schema, spot);
  }
  const types = typesOf(schema);
  if (types.length === 0) yield* gaps.untyped(key, evidence);
  for (const type of types) {
    if (type === "object") yield* fillObject(schema, spot);
    else if (type === "array") yield* fillArray(schema, spot);
    else yield* gaps.scalars(type, key, schema, evidence);
  }
}

function* fillBranches(schema: JsonObject, spot: Spot): Generator<Json> {
  const { anyOf, oneOf, ...rest } = schema;
  // If both are present, the second choice stays in the schema and is made one level down.
  const others: JsonObject = anyOf !== undefined && oneOf !== undefined ? { ...rest, oneOf } : rest;
  for (const branch of toList(anyOf ?? oneOf)) {
    const merged = merge(others, flatten(branch, spot.root));
    const value = fill(merged, { ...spot, depth: spot.depth + 1 });
    if (value !== undefined) yield value;
  }
}

function* fillObject(schema: JsonObject, spot: Spot): Generator<Json> {
  const evidence = spot.evidence.within(spot.key) ?? spot.evidence;
  const deeper = { ...spot, evidence, depth: spot.depth + 1 };
  const properties = toObject(schema["properties"]);
  const made: Record<string, Json> = {};
  for (const [key, part] of Object.entries(properties)) {
    const value = fill(part, { ...deeper, key });
    if (value !== undefined) made[key] = value;
  }
  // Below the root, the caller decides about an object without known values: it may be optional.
  const isUnknown = Object.keys(made).length === 0;
  if (isUnknown && spot.depth > 0) return;
  if (!fillRequired(made, schema, deeper)) return;
  if (spot.gaps.areFilled) addMissing(made, schema, deeper);
  else if (isUnknown) return;
  yield inOrder(made, Object.keys(properties));
}

/** False if a required key has no value and the whole object therefore stays unfilled. */
function fillRequired(made: Record<string, Json>, schema: JsonObject, spot: Spot): boolean {
  const properties = toObject(schema["properties"]);
  const missing = toList(schema["required"]).map(String);
  return missing
    .filter((key) => made[key] === undefined)
    .every((key) => {
      const isNamed = Object.hasOwn(properties, key);
      const part = isNamed ? properties[key] : schema["additionalProperties"];
      const value = spot.gaps.value(part, { ...spot, key });
      if (value !== undefined) made[key] = value;
      return value !== undefined || spot.gaps.areFilled;
    });
}

/** A word, a name or a number of the request that no other key has used. */
function claim(schema: Json | undefined, { root, gaps }: Spot): Json | undefined {
  const flat = flatten(schema, root);
  const isFixed = ["const", "enum", "default"].some((keyword) => flat[keyword] !== undefined);
  // If null is allowed, it is better than a guess.
  if (isFixed || typesOf(flat).includes("null")) return undefined;
  return gaps.leftovers?.take(flat, (value) => fits(flat, value, root));
}

function inOrder(made: Readonly<Record<string, Json>>, keys: readonly string[]): JsonObject {
  const known = keys.filter((key) => made[key] !== undefined);
  const rest = Object.keys(made).filter((key) => !keys.includes(key));
  return Object.fromEntries([...known, ...rest].map((key) => [key, made[key]]));
}

function* fillArray(schema: JsonObject, spot: Spot): Generator<Json> {
  const { items, minItems, maxItems, uniqueItems } = schema;
  const fitting = findEntries(items, spot).filter((entry) => fits(items, entry, spot.root));
  const entries = uniqueItems === true ? withoutRepeats(fitting) : fitting;
  if (entries.length === 0) return yield* emptyLists(spot);
  const kept = entries.slice(0, typeof maxItems === "number" ? maxItems : undefined);
  while (typeof minItems === "number" && kept.length < minItems) {
    if (!spot.gaps.areFilled) return;
    const place = { root: spot.root, depth: spot.depth + 1 };
    const value = sampleEntry(schema, items, { place, taken: kept });
    if (value === undefined) return;
    kept.push(value);
  }
  yield kept;
}

/** A record may say that a list is empty, which differs from not naming the list. */
function* emptyLists({ key, evidence }: Spot): Generator<Json> {
  if (evidence.lookUp(key).some((value) => Array.isArray(value) && value.length === 0)) yield [];
}

function findEntries(items: Json | undefined, spot: Spot): Json[] {
  const { key, evidence, gaps } = spot;
  const flat = flatten(items, spot.root);
  const listed = evidence.list(key);
  const keys = Object.keys(toObject(flat["properties"]));
  if (keys.length > 0) {
    const objects = listed.filter(isJsonObject).map((data) => createEvidence({ texts: [], data }));
    const rows = objects.length > 0 ? objects : evidence.rows(keys);
    const deeper = { ...spot, key: "", depth: spot.depth + 1 };
    return rows.flatMap((row) => fill(items, { ...deeper, evidence: row }) ?? []);
  }
  if (flat["enum"] !== undefined) return [...gaps.options(toList(flat["enum"]), key, evidence)];
  if (listed.length === 0) return gaps.leftovers?.all(flat) ?? [];
  const types = typesOf(flat);
  if (types.length === 0) return [...listed];
  return listed.flatMap((value) => types.flatMap((type) => gaps.entry(type, value)).slice(0, 1));
}

function withoutRepeats(values: readonly Json[]): Json[] {
  return values.filter((value, at) => !values.slice(0, at).some((other) => isSame(value, other)));
}
