/**
 * From unknown to typed, with a complaint a person can act on: which field, what it is, what it should be.
 * Returns the value itself, not a copy, so that a round trip keeps every byte.
 */

import type { z } from "zod";
import { Failure } from "../base/failure.ts";
import { toJsonPieces } from "../base/json-pieces.ts";
import { clip } from "../base/text.ts";

type Path = readonly PropertyKey[];

/**
 * Rejects with `Failure("invalid_request")`; `param` is the path to the field at fault. `what` names the
 * whole value if no single field is at fault: "request".
 */
export function parseAs<Out>(schema: z.ZodType<Out>, value: unknown, what: string): Out {
  const parsed = schema.safeParse(value);
  if (parsed.success) return value as Out;
  const [issue] = parsed.error.issues;
  const path = issue ? toPath(issue) : [];
  const param = path.length === 0 ? undefined : toParam(path);
  const name = param === undefined ? `The ${what}` : `\`${param}\``;
  const reason = issue ? describe(issue, valueAt(value, path)) : "is not valid";
  throw new Failure("invalid_request", `${name} ${reason}.`, { param, cause: parsed.error });
}

/** The path to the fault. For an unknown field that is the field, not the object around it. */
function toPath(issue: z.core.$ZodIssue): Path {
  const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  return [...issue.path, ...unknown];
}

/** `input[2].call_id`. */
function toParam(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key],
    value,
  );
}

function describe(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined && issue.code !== "custom") return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${NOUNS[issue.expected] ?? issue.expected}, not ${nameKind(value)}`;
    case "invalid_value":
      // Only words of closed lists come here, so the given value is safe to show.
      return `must be ${list(issue.values)}, not ${show(value)}`;
    case "unrecognized_keys":
      return "is not a field of this request; leave it out";
    case "too_big":
      return tooLarge(issue, value);
    case "too_small":
      return `must be at least ${issue.minimum}, not ${show(value)}`;
    default:
      return issue.message;
  }
}

function tooLarge({ origin, maximum }: z.core.$ZodIssueTooBig, value: unknown): string {
  if (origin !== "string") return `must be at most ${maximum}, not ${show(value)}`;
  return `has ${String(value).length} characters; at most ${maximum} are allowed`;
}

const NOUNS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
};

/** `"a", "b" or "c"`. */
function list(options: readonly unknown[]): string {
  const shown = options.map(show);
  const last = shown.pop() ?? "";
  return shown.length === 0 ? last : `${shown.join(", ")} or ${last}`;
}

/** Shows a value. Only the beginning of a large one is written. */
function show(value: unknown): string {
  const [beginning = ""] = toJsonPieces(value);
  return clip(beginning, 60);
}

/**
 * The kind of a value. Text is never quoted where another type was expected: it may be a secret in the
 * wrong field.
 */
function nameKind(value: unknown): string {
  if (typeof value === "string") return "a string";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
