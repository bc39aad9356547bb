/** Reads the fields of a payload, each by its type. A failure names the field and the form that it must have. */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

interface Range {
  readonly min: number;
  readonly max?: number;
}

export interface Reader {
  needed(name: string): string;
  /** An empty text is the same as none. */
  text(name: string): string | undefined;
  texts(name: string): readonly string[] | undefined;
  flag(name: string): boolean;
  number(name: string, range: Range): number | undefined;
  integer(name: string, range: Range): number | undefined;
  object(name: string): JsonObject | undefined;
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined;
}

export function createReader(document: JsonObject): Reader {
  /** Null is the same as a missing field. */
  function read<Value>(
    name: string,
    is: (value: Json) => boolean,
    expected: string,
  ): Value | undefined {
    const value = document[name];
    if (value === undefined || value === null) return undefined;
    if (is(value)) return value as Value;
    throw invalid(`\`${name}\` must be ${expected}`);
  }
  const text = (name: string): string | undefined =>
    read<string>(name, (value) => typeof value === "string", "a text") || undefined;
  const number = (name: string, range: Range, isFit: (value: Json) => boolean, kind: string) => {
    const { min, max = Number.POSITIVE_INFINITY } = range;
    const bounds = range.max === undefined ? `of ${min} or more` : `from ${min} to ${max}`;
    const isInside = (value: Json): boolean => Number(value) >= min && Number(value) <= max;
    return read<number>(name, (value) => isFit(value) && isInside(value), `${kind} ${bounds}`);
  };
  return {
    text,
    needed(name) {
      const value = text(name);
      if (value === undefined || value.trim() === "") throw invalid(`it lacks \`${name}\``);
      return value;
    },
    texts: (name) => read(name, isTexts, "a list of texts"),
    flag: (name) =>
      read<boolean>(name, (value) => typeof value === "boolean", "true or false") ?? false,
    number: (name, range) => number(name, range, Number.isFinite, "a number"),
    integer: (name, range) => number(name, range, Number.isSafeInteger, "a whole number"),
    object: (name) => read(name, isJsonObject, "an object"),
    word<Word extends string>(name: string, words: readonly Word[]) {
      const isWord = (value: Json): boolean => words.some((word) => word === value);
      return read<Word>(name, isWord, `one of ${words.join(", ")}`);
    },
  };
}

function isTexts(value: Json): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

export function invalid(problem: string): Failure {
  return new Failure("invalid_request", `The payload cannot be used: ${problem}.`);
}
