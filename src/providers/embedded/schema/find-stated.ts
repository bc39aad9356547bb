/**
 * Values that the evidence states under a key's own name, for an answer. A word of the request that only
 * sounds like the key is none: "should it be approved?" does not say that it is.
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
  if (typeof format === "string") yield* findFormat(format, evidence.text);
  if (typeof pattern === "string") yield* findPattern(pattern, evidence.text);
  const isAnswer = /\b(answer|reply|response|result|output|message|text)$/.test(toPlainKey(key));
  if (isAnswer && evidence.answer !== undefined) yield evidence.answer;
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

const DECISIONS: Readonly<Record<string, boolean>> = {
  ...{ true: true, yes: true, on: true },
  ...{ false: false, no: false, off: false },
};

function* findDecisions(key: string, evidence: Evidence): Generator<boolean> {
  for (const value of evidence.stated(key)) {
    const decision = DECISIONS[String(value).toLowerCase()];
    if (decision !== undefined) yield decision;
  }
}
