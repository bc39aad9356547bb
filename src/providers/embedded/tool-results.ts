/** Parses the results of tools into values. */

import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";

export interface NumberedLine {
  /** The first line is 1. */
  readonly number: number;
  readonly text: string;
}

/** The lines of a `read` or `bash_read` result, or the text of its refusal. */
export type ReadResult =
  | { readonly ok: true; readonly lines: readonly NumberedLine[] }
  | { readonly ok: false; readonly problem: string };

export function parseRead(output: string): ReadResult {
  if (output.trim() === "(empty file)") return { ok: true, lines: [] };
  const page = parseResult(output);
  if (page && Array.isArray(page["results"])) {
    const start = (numberIn(page, "offset") ?? 0) + 1;
    const lines = page["results"].map((text, at) => ({ number: start + at, text: String(text) }));
    return { ok: true, lines };
  }
  const lines = output.split("\n").flatMap((line) => {
    const match = /^\s*(\d+) \| ?(.*)$/s.exec(line);
    return match ? [{ number: Number(match[1]), text: match[2] ?? "" }] : [];
  });
  return lines.length > 0 ? { ok: true, lines } : { ok: false, problem: output.trim() };
}

/** An output as text, without the line numbers that `read` adds. */
export function withoutNumbers(output: string): string {
  const result = parseRead(output);
  return result.ok ? result.lines.map((line) => line.text).join("\n") : output;
}

/** The paths of a `bash_find` result, or the text of its refusal. */
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

/** True if a tool refused or failed: the gate puts `Error:` before such a result. */
export function isRefusal(output: string): boolean {
  return /^(?:error:|tool call \S+ was denied\b)/i.test(output.trim());
}

/** The object that a tool returned; undefined for anything else, such as a refusal. */
export function parseResult(output: string): JsonObject | undefined {
  const value = isRefusal(output) ? undefined : tryParseJson(output);
  return isJsonObject(value) ? value : undefined;
}

export function textIn(result: JsonObject, field: string): string {
  const value = result[field];
  return typeof value === "string" ? value : "";
}

export function numberIn(result: JsonObject, field: string): number | undefined {
  const value = result[field];
  return typeof value === "number" ? value : undefined;
}
