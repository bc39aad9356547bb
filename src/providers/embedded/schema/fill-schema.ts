/**
 * Fills a JSON schema from evidence. What was found is put where its name says; what must be there and
 * was not found takes a value nobody has claimed yet, and last the plainest value that fits.
 * The result fits the schema for every keyword that `fits.ts` knows, if such a value can be made.
 */

import { isJsonObject, type Json, type JsonObject } from "../../../base/json.ts";
import { runWithin } from "../../../base/run-within.ts";
import { coerce } from "./coerce.ts";
import { createEvidence, type Evidence } from "./evidence.ts";
import { findOptions, findScalars } from "./find-scalars.ts";
import { fits } from "./fits.ts";
import { createLeftovers, type Leftovers } from "./leftovers.ts";
import { addMissing, sampleEntry, sampleValue } from "./sample-value.ts";
import { flatten, isSame, merge, toList, toObject, typesOf } from "./shape.ts";

/** Found values are looked for this deep; below, only what must be there is made. */
const MAX_DEPTH = 8;

/** Where in the schema and in the evidence the filling stands. */
interface Spot {
  readonly key: string;
  readonly evidence: Evidence;
  readonly leftovers: Leftovers;
  readonly root: JsonObject;
  readonly depth: number;
}

/** What a schema may take; it is a client's, and may ask for a billion of something. */
const FILL = { limitMs: 500, what: "The schema" };

/** Rejects with `invalid_request` what takes too long. */
export function fillSchema(schema: JsonObject, evidence: Evidence): Json {
  return runWithin(FILL, () => fillAll(schema, evidence));
}

function fillAll(schema: JsonObject, evidence: Evidence): Json {
  const whole = evidence.documents.find((document) => fits(schema, document, schema));
  if (whole !== undefined && isTelling(whole)) return whole;
  const leftovers = createLeftovers(evidence);
  const filled = fill(schema, { key: "", evidence, leftovers, root: schema, depth: 0 });
  return filled ?? sampleValue(schema, { root: schema, depth: 0 }) ?? {};
}

/** `{}` fits many schemas and says nothing. */
function isTelling(document: Json): boolean {
  return (Array.isArray(document) ? document : Object.keys(toObject(document))).length > 0;
}

/** The value the evidence gives, or `undefined` when it gives none. */
function fill(schema: Json | undefined, spot: Spot): Json | undefined {
  const flat = flatten(schema, spot.root);
  if (spot.depth > MAX_DEPTH || flat["const"] !== undefined) return undefined;
  for (const candidate of findCandidates(flat, spot)) {
    if (fits(flat, candidate, spot.root)) return candidate;
  }
  return undefined;
}

function* findCandidates(schema: JsonObject, spot: Spot): Generator<Json> {
  const { key, evidence } = spot;
  if (schema["enum"] !== undefined) {
    return yield* findOptions(toList(schema["enum"]), key, evidence);
  }
  if (schema["anyOf"] !== undefined || schema["oneOf"] !== undefined) {
    return yield* fillBranches(schema, spot);
  }
  const types = typesOf(schema);
  if (types.length === 0) yield* evidence.lookUp(key);
  for (const type of types) {
    if (type === "object") yield* fillObject(schema, spot);
    else if (type === "array") yield* fillArray(schema, spot);
    else yield* findScalars(type, key, schema, evidence);
  }
}

function* fillBranches(schema: JsonObject, spot: Spot): Generator<Json> {
  const { anyOf, oneOf, ...rest } = schema;
  // With both present the second choice stays in the schema and is made one level down.
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
  // Below the root an object nothing is known about is left to the caller: it may be optional.
  if (Object.keys(made).length === 0 && spot.depth > 0) return;
  for (const key of toList(schema["required"]).map(String)) {
    if (made[key] !== undefined) continue;
    const part = Object.hasOwn(properties, key) ? properties[key] : schema["additionalProperties"];
    const value = claim(part, spot) ?? sampleValue(part, deeper);
    if (value !== undefined) made[key] = value;
  }
  addMissing(made, schema, deeper);
  yield inOrder(made, Object.keys(properties));
}

/** A word, a name or a number of the request that no other key has taken. */
function claim(schema: Json | undefined, { root, leftovers }: Spot): Json | undefined {
  const flat = flatten(schema, root);
  const isFixed = ["const", "enum", "default"].some((keyword) => flat[keyword] !== undefined);
  // Where nothing may be said, nothing is better than a guess.
  if (isFixed || typesOf(flat).includes("null")) return undefined;
  return leftovers.take(flat, (value) => fits(flat, value, root));
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
  if (entries.length === 0) return;
  const kept = entries.slice(0, typeof maxItems === "number" ? maxItems : undefined);
  while (typeof minItems === "number" && kept.length < minItems) {
    const place = { root: spot.root, depth: spot.depth + 1 };
    const value = sampleEntry(schema, items, { place, taken: kept });
    if (value === undefined) return;
    kept.push(value);
  }
  yield kept;
}

function findEntries(items: Json | undefined, spot: Spot): Json[] {
  const { key, evidence, leftovers } = spot;
  const flat = flatten(items, spot.root);
  const listed = evidence.list(key);
  const keys = Object.keys(toObject(flat["properties"]));
  if (keys.length > 0) {
    const objects = listed.filter(isJsonObject).map((data) => createEvidence({ texts: [], data }));
    const rows = objects.length > 0 ? objects : evidence.rows(keys);
    const deeper = { ...spot, key: "", depth: spot.depth + 1 };
    return rows.flatMap((row) => fill(items, { ...deeper, evidence: row }) ?? []);
  }
  if (flat["enum"] !== undefined) return [...findOptions(toList(flat["enum"]), key, evidence)];
  if (listed.length === 0) return leftovers.all(flat);
  const types = typesOf(flat);
  if (types.length === 0) return [...listed];
  return listed.flatMap((value) => types.flatMap((type) => coerce(type, value)).slice(0, 1));
}

function withoutRepeats(values: readonly Json[]): Json[] {
  return values.filter((value, at) => !values.slice(0, at).some((other) => isSame(value, other)));
}
