/**
 * Values that the evidence states under a key's own name, for an answer. A word of the request that
 * resembles the key is not a value: "should it be approved?" does not say that it is. Decisions (booleans,
 * options, constants, and values of any type) are taken from data alone.
 */

import type { Json, JsonObject } from "../../../base/json.ts";
import { coerce } from "./coerce.ts";
import { type Evidence, toPlainKey } from "./evidence.ts";
import { findPattern } from "./find-scalars.ts";
import { findFormat } from "./formats.ts";

export function* findStatedScalars(
  type: string,
  key: string,
  schema: JsonObject,
  evidence: Evidence,
): Generator<Json> {
  if (type === "boolean") return yield* findDecisions(key, evidence);
  for (const value of evidence.lookUp(key)) yield* coerce(type, value);
  if (type !== "string") return;
  const { format, pattern } = schema;
  if (typeof format === "string") yield* onlyOne(findFormat(format, evidence.text));
  if (typeof pattern === "string")
    yield* onlyOne(findPattern(pattern, evidence.text).filter(isCode));
  const isAnswer = /\b(answer|reply|response|result|output|message|text)$/.test(toPlainKey(key));
  if (isAnswer && evidence.answer !== undefined) yield evidence.answer;
}

/** With several values, it is unknown which one is meant. */
function onlyOne(found: readonly string[]): readonly string[] {
  const different = [...new Set(found)];
  return different.length === 1 ? different : [];
}

/**
 * True for a pattern with digits, such as a ticket's number. A verdict has none: `^(approve|reject)$` must
 * not match a word of a sentence.
 */
function isCode(word: string): boolean {
  return /\d/.test(word);
}

export function* findStatedOptions(
  options: readonly Json[],
  key: string,
  evidence: Evidence,
): Generator<Json> {
  for (const value of evidence.stated(key)) {
    const wanted = String(value).toLowerCase();
    const same = options.find((option) => String(option).toLowerCase() === wanted);
    if (same !== undefined && same !== null) yield same;
  }
}

/** A list of decisions must be JSON. */
export function toStatedEntry(type: string, value: Json): readonly Json[] {
  return type === "boolean" && typeof value !== "boolean" ? [] : coerce(type, value);
}

const DECISIONS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  false: false,
  no: false,
  off: false,
};

function* findDecisions(key: string, evidence: Evidence): Generator<boolean> {
  for (const value of evidence.stated(key)) {
    const decision = DECISIONS[String(value).toLowerCase()];
    if (decision !== undefined) yield decision;
  }
}
