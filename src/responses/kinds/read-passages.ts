/**
 * Reads passages from the result of another search: a list in JSON, under the names that such tools use, or one text,
 * which is one passage. Pure.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";

export interface Passage {
  readonly file_id: string;
  readonly filename: string;
  readonly score: number;
  readonly text: string;
}

export function readPassages(output: string): Passage[] {
  if (output.trim() === "") return [];
  const list = findList(tryParseJson(output));
  return list ? list.map(toPassage) : [toPassage(output, 0)];
}

const LISTS = ["results", "data", "passages", "documents", "matches", "items"];

function findList(said: Json | undefined): readonly Json[] | undefined {
  if (Array.isArray(said)) return said as readonly Json[];
  if (!isJsonObject(said)) return undefined;
  return LISTS.map((name) => said[name]).find((value) => Array.isArray(value)) as
    | readonly Json[]
    | undefined;
}

function toPassage(said: Json, at: number): Passage {
  const given: JsonObject = isJsonObject(said) ? said : { text: said };
  const text = textOf(given, ["text", "content", "passage", "snippet", "chunk"]);
  const { score } = given;
  return {
    file_id: textOf(given, ["file_id", "id", "url", "uri", "path"]) ?? `passage-${at + 1}`,
    filename: textOf(given, ["filename", "title", "name", "source"]) ?? "",
    score: typeof score === "number" ? score : 0,
    text: text ?? JSON.stringify(said),
  };
}

function textOf(given: JsonObject, names: readonly string[]): string | undefined {
  return names.map((name) => given[name]).find((value) => typeof value === "string") as
    | string
    | undefined;
}
