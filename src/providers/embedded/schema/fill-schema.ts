/**
 * Fills a JSON schema from evidence. What was found is put where its name says; what must be there and
 * was not found takes a value nobody has claimed yet, and last the plainest value that fits.
 * The result fits the schema for every keyword that `fits.ts` knows, if such a value can be made.
 */

import { isJsonObject, type Json, type JsonObject } from "../../../base/json.ts";
import { clip } from "../../../base/text.ts";
import { type Evidence, toPlainKey } from "./evidence.ts";
import { fits, toPattern } from "./fits.ts";
import { findFormat } from "./formats.ts";
import { createLeftovers } from "./leftovers.ts";
import { addMissing, sampleOther, sampleValue } from "./sample-value.ts";
import { flatten, isSame, merge, toList, toObject, typesOf } from "./shape.ts";

/** Found values are looked for this deep; below, only what must be there is made. */
const MAX_DEPTH = 8;

/** Where in the schema and in the evidence the filling stands. */
interface Spot {
  readonly key: string;
  readonly evidence: Evidence;
  readonly depth: number;
}

export function fillSchema(schema: JsonObject, evidence: Evidence): Json {
  const root = schema;
  const leftovers = createLeftovers(evidence);
  const whole = evidence.documents.find((document) => fits(schema, document, root));
  if (whole !== undefined && isRich(whole)) return whole;
  const filled = fill(schema, { key: "", evidence, depth: 0 });
  if (filled !== undefined) return filled;
  return claim(schema, "") ?? sampleValue(schema, { root, depth: 0 }) ?? {};

  /** The value the evidence gives, or `undefined` when it gives none. */
  function fill(part: Json | undefined, spot: Spot): Json | undefined {
    const flat = flatten(part, root);
    if (spot.depth > MAX_DEPTH || flat["const"] !== undefined) return undefined;
    for (const candidate of found(flat, spot)) {
      if (fits(flat, candidate, root)) return candidate;
    }
    return undefined;
  }

  function* found(schema: JsonObject, spot: Spot): Generator<Json> {
    if (schema["enum"] !== undefined) return yield* fromEnum(toList(schema["enum"]), spot);
    const { anyOf, oneOf, ...rest } = schema;
    if (anyOf !== undefined || oneOf !== undefined) {
      const others: JsonObject = anyOf !== undefined && oneOf !== undefined ? { ...rest, oneOf } : rest;
      for (const branch of toList(anyOf ?? oneOf)) {
        const value = fill(merge(others, flatten(branch, root)), { ...spot, depth: spot.depth + 1 });
        if (value !== undefined) yield value;
      }
      return;
    }
    for (const type of typesOf(schema)) {
      if (type === "object") yield* fromObject(schema, spot);
      else if (type === "array") yield* fromArray(schema, spot);
      else yield* fromScalar(type, schema, spot);
    }
    if (typesOf(schema).length === 0) yield* spot.evidence.lookUp(spot.key);
  }

  function* fromObject(schema: JsonObject, spot: Spot): Generator<Json> {
    const evidence = spot.evidence.within(spot.key) ?? spot.evidence;
    const properties = Object.entries(toObject(schema["properties"]));
    const made: Record<string, Json> = {};
    for (const [key, part] of properties) {
      const value = fill(part, { key, evidence, depth: spot.depth + 1 });
      if (value !== undefined) made[key] = value;
    }
    // Below the root an object nothing is known about is left to the caller: it may be optional.
    if (Object.keys(made).length === 0 && spot.depth > 0) return;
    const required = toList(schema["required"]).map(String);
    for (const key of required.filter((name) => made[name] === undefined)) {
      const part = toObject(schema["properties"])[key] ?? schema["additionalProperties"];
      const value = claim(part, key) ?? sampleValue(part, { root, depth: spot.depth + 1 });
      if (value !== undefined) made[key] = value;
    }
    addMissing(made, schema, { root, depth: spot.depth + 1 });
    yield inOrder(made, properties.map(([key]) => key));
  }

  function* fromArray(schema: JsonObject, spot: Spot): Generator<Json> {
    const items = schema["items"];
    const keys = Object.keys(toObject(flatten(items, root)["properties"]));
    const entries: Json[] = [];
    for (const candidate of listCandidates(items, keys, spot)) {
      const repeated = entries.some((entry) => isSame(entry, candidate));
      if (fits(items, candidate, root) && !(repeated && schema["uniqueItems"] === true)) entries.push(candidate);
    }
    if (entries.length === 0) return;
    const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
    const most = typeof schema["maxItems"] === "number" ? schema["maxItems"] : entries.length;
    const kept = entries.slice(0, Math.max(most, 0));
    while (kept.length < least) {
      const value = sampleOther(items, { root, depth: spot.depth + 1 }, kept);
      if (value === undefined) return;
      kept.push(value);
    }
    yield kept;
  }

  function listCandidates(items: Json | undefined, keys: readonly string[], spot: Spot): Json[] {
    const { key, evidence, depth } = spot;
    const flat = flatten(items, root);
    const listed = evidence.list(key);
    if (keys.length > 0) {
      const objects = listed.filter(isJsonObject).map((row) => rowEvidence(row));
      const rows = objects.length > 0 ? objects : evidence.rows(keys);
      return rows.flatMap((row) => fill(items, { key: "", evidence: row, depth: depth + 1 }) ?? []);
    }
    if (listed.length > 0) return listed.flatMap((value) => coerceAll(typesOf(flat), value).slice(0, 1));
    if (flat["enum"] !== undefined) return [...fromEnum(toList(flat["enum"]), spot)];
    return leftovers.all(flat);
  }

  function* fromScalar(type: string, schema: JsonObject, spot: Spot): Generator<Json> {
    const { key, evidence } = spot;
    for (const value of evidence.lookUp(key)) yield* coerce(type, value);
    if (type === "boolean") yield* fromMention(key, evidence.text);
    if (type !== "string") return;
    const { format, pattern } = schema;
    if (typeof format === "string") yield* findFormat(format, evidence.text);
    if (typeof pattern === "string") yield* findPattern(pattern, evidence.text);
    yield* fromWholeText(key, evidence);
  }

  /** For what must be there: a word, name or number of the request that no other key has taken. */
  function claim(part: Json | undefined, key: string): Json | undefined {
    const flat = flatten(part, root);
    if (flat["const"] !== undefined || flat["enum"] !== undefined || flat["default"] !== undefined) return undefined;
    if (typesOf(flat).includes("null") || key === "") return undefined;
    return leftovers.take(flat, (value) => fits(flat, value, root));
  }
}

function rowEvidence(row: JsonObject): Evidence {
  const none: readonly Json[] = [];
  const lookUp = (key: string): Json[] =>
    Object.entries(row).flatMap(([name, value]) =>
      value !== undefined && toPlainKey(name) === toPlainKey(key) ? [value] : [],
    );
  return {
    lookUp,
    list: (key) => lookUp(key).find((value) => Array.isArray(value)) ?? none,
    within: (key) => lookUp(key).filter(isJsonObject).map(rowEvidence)[0],
    rows: () => [],
    documents: [],
    text: "",
    answer: undefined,
  };
}

/** A document is taken whole only when it says something: `{}` fits many schemas. */
function isRich(document: Json): boolean {
  return (Array.isArray(document) ? document : Object.keys(toObject(document))).length > 0;
}

function inOrder(made: Readonly<Record<string, Json>>, keys: readonly string[]): JsonObject {
  const rest = Object.keys(made).filter((key) => !keys.includes(key));
  return Object.fromEntries([...keys, ...rest].flatMap((key) => (made[key] === undefined ? [] : [[key, made[key]]])));
}

function coerceAll(types: readonly string[], value: Json): Json[] {
  return types.length === 0 ? [value] : types.flatMap((type) => [...coerce(type, value)]);
}

/** The value as that type, where its text can be read as one. */
function* coerce(type: string, value: Json): Generator<Json> {
  switch (type) {
    case "string":
      if (typeof value === "string") yield value;
      else if (typeof value === "number") yield String(value);
      return;
    case "number":
    case "integer":
      if (typeof value === "number") yield value;
      else if (typeof value === "string") yield* toNumbers(value);
      return;
    case "boolean":
      if (typeof value === "boolean") yield value;
      else if (/^(true|yes|on|1)\b/i.test(String(value))) yield true;
      else if (/^(false|no|off|0)\b/i.test(String(value))) yield false;
      return;
    case "null":
      if (value === null) yield null;
      return;
    default:
      yield value;
  }
}

function toNumbers(text: string): number[] {
  const [first] = /-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?/i.exec(text) ?? [];
  return first === undefined ? [] : [Number(first.replace(/,/g, ""))];
}

/** Options named beside the key, then options that stand anywhere in the text, in the text's order. */
function* fromEnum(options: readonly Json[], { key, evidence }: Spot): Generator<Json> {
  for (const value of evidence.lookUp(key)) {
    const same = options.find((option) => String(option).toLowerCase() === String(value).toLowerCase());
    if (same !== undefined && same !== null) yield same;
  }
  const text = evidence.text.toLowerCase();
  const present = options.flatMap((option) => {
    const at = typeof option === "string" && option !== "" ? indexOfWord(text, option.toLowerCase()) : -1;
    return at < 0 ? [] : [{ option, at }];
  });
  for (const { option } of present.sort((a, b) => a.at - b.at)) yield option;
}

function indexOfWord(text: string, word: string): number {
  const spaced = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/[\s_-]+/g, "[\\s_-]+");
  return new RegExp(`(?<![\\p{L}\\p{N}])${spaced}(?![\\p{L}\\p{N}])`, "u").exec(text)?.index ?? -1;
}

/** `is_urgent` is true in a text that says "urgent" and false in one that says "not urgent". */
function* fromMention(key: string, text: string): Generator<boolean> {
  const words = toPlainKey(key).replace(/^(is|has|was|are|should|can|needs?)\s+/, "");
  const at = words === "" ? -1 : indexOfWord(text.toLowerCase(), words);
  if (at < 0) return;
  yield !/\b(not|no|never|without|isn't|is not|n't)\s+(a\s+|an\s+|very\s+)?$/i.test(text.slice(0, at));
}

function findPattern(pattern: string, text: string): string[] {
  const whole = toPattern(pattern);
  return text.split(/[\s,;"'`()]+/).filter((word) => word !== "" && whole?.test(word) === true);
}

const MAX_TEXT_CHARS = 300;

/** Keys that ask for the answer itself, and keys that ask for the text as such. */
function* fromWholeText(key: string, { answer, text }: Evidence): Generator<string> {
  const plain = toPlainKey(key);
  if (answer !== undefined && /\b(answer|reply|response|result|output|explanation|reason|message)$/.test(plain)) yield answer;
  if (text !== "" && /\b(text|content|summary|description|title|question|message|input)$/.test(plain)) {
    yield clip(text, MAX_TEXT_CHARS);
    yield clip(text, 80);
  }
}
