/** What the tools `read` and `bash_find` answer, read back into values. */

import { isJsonObject, tryParseJson } from "../../base/json.ts";

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** The numbered lines of a `read` result, or the words it refused with. */
export type ReadResult =
  | { readonly ok: true; readonly lines: readonly Line[] }
  | { readonly ok: false; readonly problem: string };

export function parseRead(output: string): ReadResult {
  if (output.trim() === "(empty file)") return { ok: true, lines: [] };
  const lines = output.split("\n").flatMap((line) => {
    const match = /^\s*(\d+) \| ?(.*)$/s.exec(line);
    return match ? [{ number: Number(match[1]), text: match[2] ?? "" }] : [];
  });
  return lines.length > 0 ? { ok: true, lines } : { ok: false, problem: output.trim() };
}

/** The paths of a `bash_find` result, or the words it refused with. */
export type FindResult =
  | { readonly ok: true; readonly paths: readonly string[]; readonly total: number }
  | { readonly ok: false; readonly problem: string };

export function parseFind(output: string): FindResult {
  const page = tryParseJson(output);
  if (!isJsonObject(page) || !Array.isArray(page["results"])) {
    return { ok: false, problem: output.trim() };
  }
  const paths = page["results"].filter((path) => typeof path === "string");
  const total = typeof page["total"] === "number" ? page["total"] : paths.length;
  return { ok: true, paths: [...paths].sort(), total };
}
