/** JSON as a type, and the two ways to read it: for what must be JSON, and for what may not be. */

import { Failure } from "./failure.ts";
import { clip } from "./text.ts";

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Parses text that must be JSON. `what` names it in the message: "the schema file". */
export function parseJson(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("invalid_request", `${what} is not JSON: ${clip(reason, 120)}.`, { cause });
  }
}

/** Parses text that may not be JSON; `undefined` then. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Not being JSON is an ordinary outcome here.
    return undefined;
  }
}

/**
 * Parses an event's payload, which may not be JSON. One that lacks nothing but the braces at its end,
 * as some servers and proxies cut theirs, says all it has to say and is taken.
 */
export function tryParsePayload(text: string): Json | undefined {
  const parsed = tryParseJson(text);
  if (parsed !== undefined || !text.endsWith("}")) return parsed;
  return tryParseJson(`${text}}`) ?? tryParseJson(`${text}}}`);
}

/** Whether two values would be the same as JSON, in whatever order their fields stand. Writes nothing. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object") return one === other;
  if (one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  // A field that is undefined is not there.
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
