/**
 * JSON as a type, and the two ways to read it: text that must be JSON, and text that may be something else.
 */

import { Failure } from "./failure.ts";
import { clip } from "./text.ts";

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json | undefined };

/**
 * The type itself if its values are JSON, field by field; a function or a class with methods makes the call of
 * `asJson` an error. Interfaces have no index signature, so the compiler cannot compare them with `Json` itself.
 */
export type JsonLike<Value> = unknown extends Value
  ? Value
  : Value extends Json | undefined
    ? Value
    : Value extends (...given: never[]) => unknown
      ? never
      : { readonly [Field in keyof Value]: JsonLike<Value[Field]> };

/** A typed value as JSON, without a copy. The compiler checks that it is JSON. */
export function asJson<Value>(value: Value & JsonLike<Value>): Json {
  return value as unknown as Json;
}

/** A typed object as JSON, without a copy, to store it or to read fields that its type does not name. */
export function asJsonObject<Value extends object>(value: Value & JsonLike<Value>): JsonObject {
  return value as unknown as JsonObject;
}

/** Parses text that must be JSON. `what` names it in the error message: "the schema file". */
export function parseJson(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("invalid_request", `${what} is not JSON: ${clip(reason, 120)}.`, { cause });
  }
}

/** Parses text that may be something else than JSON; returns `undefined` then. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Text that is not JSON is an ordinary case here.
    return undefined;
  }
}

/**
 * Parses an event's payload; returns `undefined` if it is not JSON. A payload that lacks only the braces at
 * its end, as some servers and proxies send it, is accepted.
 */
export function tryParsePayload(text: string): Json | undefined {
  const parsed = tryParseJson(text);
  if (parsed !== undefined || !text.endsWith("}")) return parsed;
  return tryParseJson(`${text}}`) ?? tryParseJson(`${text}}}`);
}

/** True if two values are the same as JSON; the order of fields does not matter. Writes nothing. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object") return one === other;
  if (one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  // A field that is undefined counts as missing.
  const [fields, others] = [one, other].map((value) =>
    Object.entries(value).filter(([, field]) => field !== undefined),
  ) as [[string, unknown][], [string, unknown][]];
  if (fields.length !== others.length) return false;
  const found = new Map(others);
  return fields.every(([name, field]) => found.has(name) && isSameJson(field, found.get(name)));
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
