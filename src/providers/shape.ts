/**
 * Describes which fields a vendor's JSON has and of which types: written once, as data, from which the
 * code's types are made. A server's JSON is checked against it when it is parsed, so a decoder never meets
 * a list where its types say text.
 *
 * Every field may be missing or null, because every one is missing at some server. Fields that no shape
 * names are left alone. A check costs about a microsecond for each event: nothing is copied
 * (bench/decode.ts).
 */

import { toMisshapen } from "./broken-answer.ts";

export interface Shape<Type> {
  /** The problem of a given value, as a path and a sentence; undefined if it fits. */
  check(value: unknown): string | undefined;
  /** True if a wrong value counts as missing, instead of failing the answer. */
  readonly isLoose?: boolean;
  /** Never set: it only carries the type. */
  readonly of?: Type;
}

/** The type of values that fit a shape. */
export type Shaped<Of> = Of extends Shape<infer Type> ? Type : never;

/** The value itself, without loose fields that do not fit. Otherwise throws `broken_answer`. */
export function readShape<Type>(value: unknown, shape: Shape<Type>): Type {
  const problem = shape.check(value);
  if (problem === undefined) return value as Type;
  throw toMisshapen(`The answer is not in the API's form: ${problem}.`);
}

export const text: Shape<string> = plain("text", (value) => typeof value === "string");
export const number: Shape<number> = plain("a number", (value) => Number.isFinite(value));
export const flag: Shape<boolean> = plain("true or false", (value) => typeof value === "boolean");
/** A value of any type: it is checked elsewhere, or passed on. */
export const anything: Shape<unknown> = { check: () => undefined };

/** A shape for numbers, ids and other fields that an answer can do without. */
export function loose<Type>(shape: Shape<Type>): Shape<Type> {
  return { check: shape.check, isLoose: true };
}

export function list<Type>(of: Shape<Type>): Shape<readonly Type[]> {
  return {
    check(value) {
      if (!Array.isArray(value)) return `is ${nameOf(value)} where a list belongs`;
      for (let at = 0; at < value.length; at++) {
        const problem = value[at] === null ? "is null" : of.check(value[at]);
        if (problem !== undefined) return toPath(`[${at}]`, problem);
      }
      return undefined;
    },
  };
}

/** The first shape that fits is used. */
export function either<One, Other>(one: Shape<One>, other: Shape<Other>): Shape<One | Other> {
  return {
    check: (value) => (one.check(value) === undefined ? undefined : other.check(value)),
  };
}

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Optional<Of extends Fields> = { readonly [Name in keyof Of]?: Shaped<Of[Name]> | null };

export function object<const Of extends Fields>(fields: Of): Shape<Optional<Of>> {
  const names = Object.keys(fields);
  const shapes = Object.values(fields);
  return {
    check(value) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        return `is ${nameOf(value)} where an object belongs`;
      }
      const holder = value as Record<string, unknown>;
      for (let at = 0; at < names.length; at++) {
        const name = names[at] as string;
        const found = holder[name];
        if (found === undefined || found === null) continue;
        const shape = shapes[at] as Shape<unknown>;
        const problem = shape.check(found);
        if (problem === undefined) continue;
        if (!shape.isLoose) return toPath(`.${name}`, problem);
        holder[name] = undefined;
      }
      return undefined;
    },
  };
}

function plain<Type>(what: string, fits: (value: unknown) => boolean): Shape<Type> {
  return {
    check: (value) => (fits(value) ? undefined : `is ${nameOf(value)} where ${what} belongs`),
  };
}

/** The problem of a nested value: its path continues with a point or a bracket, its sentence with a space. */
export function toPath(step: string, problem: string): string {
  return /^[.[]/.test(problem) ? step + problem : `${step} ${problem}`;
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return value === null ? "null" : "an object";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}
