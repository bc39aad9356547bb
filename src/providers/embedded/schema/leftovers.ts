/**
 * Values of the request without a name: quoted words, proper names, numbers, the words after "for". Each is
 * used once, in the order of the text, for keys that must have a value.
 */

import type { Json, JsonObject } from "../../../base/json.ts";
import { type Evidence, NAME } from "./evidence.ts";
import { findFormat } from "./formats.ts";
import { typesOf } from "./shape.ts";

export interface Leftovers {
  /** The next value of the right type that `suits`. It is not returned again. */
  take(schema: JsonObject, suits: (value: Json) => boolean): Json | undefined;
  /** Every value of the right type, for a list. They can be returned again. */
  all(schema: JsonObject): Json[];
}

export function createLeftovers({ text }: Evidence): Leftovers {
  const taken = new Set<Json>();
  let words: readonly string[] | undefined;
  let numbers: readonly number[] | undefined;

  return {
    take(schema, suits) {
      const value = candidates(schema).find(
        (candidate) => !taken.has(candidate) && suits(candidate),
      );
      if (value !== undefined) taken.add(value);
      return value;
    },
    all(schema) {
      const { format } = schema;
      if (typeof format === "string") return findFormat(format, text);
      return typesOf(schema).includes("string") ? findQuoted(text) : [...candidates(schema)];
    },
  };

  function candidates(schema: JsonObject): readonly Json[] {
    const types = typesOf(schema);
    if (types.includes("string")) {
      words ??= [...findQuoted(text), ...findNames(text), ...findObjects(text)];
      return words;
    }
    if (!types.includes("number") && !types.includes("integer")) return [];
    numbers ??= findNumbers(text);
    return numbers;
  }
}

function findQuoted(text: string): string[] {
  const quoted =
    /"([^"\n]+)"|(?<![\p{L}\p{N}])'([^'\n]+)'(?![\p{L}\p{N}])|`([^`\n]+)`|“([^”\n]+)”/gu;
  return [...text.matchAll(quoted)].map(([, a, b, c, d]) => a ?? b ?? c ?? d ?? "");
}

/** Capitalized words that do not just begin a sentence. */
function findNames(text: string): string[] {
  const names = [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${NAME}`, "gu"))];
  return names.flatMap(({ 0: name, index }) => {
    const startsSentence = /(?:^|[.!?\n]\s*|["'`])$/.test(
      text.slice(Math.max(0, index - 3), index),
    );
    return startsSentence || name.length < 2 ? [] : [name];
  });
}

/** The words after a preposition, up to the next mark: "for small cars", "about the weather". */
function findObjects(text: string): string[] {
  const objects =
    /\b(?:for|about|with|of|on|in|to|from|named|called)\s+(?:the\s+|a\s+|an\s+)?([^\s,.;:?!][^,.;:?!\n]*)/giu;
  return [...text.matchAll(objects)].map(([, words = ""]) => words.trim());
}

function findNumbers(text: string): number[] {
  const numbers = text.matchAll(/(?<![\p{L}\p{N}.-])-?\d[\d,]*(?:\.\d+)?(?![\p{L}\p{N}])/gu);
  return [...numbers].map(([number]) => Number(number.replace(/,/g, ""))).filter(Number.isFinite);
}
