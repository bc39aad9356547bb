/** Finds structured data inside a plain text: JSON documents and tables of comma-separated values. */

import type { Json, JsonObject } from "../../../base/json.ts";
import { tryParseJson } from "../../../base/json.ts";

/** Longer texts are searched up to here: searching a large log for brackets costs more than it finds. */
const MAX_CHARS = 200_000;
/** The most brackets that are tried: each one without its closing bracket costs a search of the whole text. */
const MAX_TRIES = 200;

/** The outermost JSON objects and lists in a text. */
export function findDocuments(text: string): Json[] {
  const searched = text.slice(0, MAX_CHARS);
  const documents: Json[] = [];
  let at = 0;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    at = indexOfBracket(searched, at);
    if (at < 0) break;
    const end = closingIndex(searched, at);
    const document = end < 0 ? undefined : tryParseJson(searched.slice(at, end + 1));
    if (document !== undefined) documents.push(document);
    // Continues after a parsed document, otherwise one character further, because an inner bracket may
    // begin one.
    at = document === undefined ? at + 1 : end + 1;
  }
  return documents;
}

/**
 * The rows of every table in a text: two or more lines with the same number of separators, names in the
 * first.
 */
export function findRows(text: string): JsonObject[] {
  const rows: JsonObject[] = [];
  let header: readonly string[] | undefined;
  for (const line of text.slice(0, MAX_CHARS).split(/\r?\n/)) {
    const cells = splitCells(line);
    if (!cells) header = undefined;
    else if (header?.length === cells.length) rows.push(toRow(header, cells));
    else header = cells.every(isColumnName) ? cells : undefined;
  }
  return rows;
}

/** Lines such as "city: Paris, country: France" as an object; `undefined` if there are none. */
export function findPairs(text: string): JsonObject | undefined {
  const pair =
    /(?:^|[\n,;])\s*(\p{L}[\p{L}\p{N}_ -]{0,30}?)\s*[:=]\s*([^\n]*?)(?=\s*(?:$|\n|[,;]\s*\p{L}[\p{L}\p{N}_ -]{0,30}?\s*[:=]))/gu;
  const pairs = [...text.slice(0, MAX_CHARS).matchAll(pair)].flatMap(([, key = "", value = ""]) =>
    value === "" ? [] : [[key, toPairValue(value)] as const],
  );
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

/** Reads a value of a pair: numbers, `true` and `false` get their own types. */
export function toPairValue(value: string): Json {
  const parsed = tryParseJson(value);
  return typeof parsed === "number" || typeof parsed === "boolean" ? parsed : value;
}

function indexOfBracket(text: string, from: number): number {
  const bracket = /[{[]/g;
  bracket.lastIndex = from;
  return bracket.exec(text)?.index ?? -1;
}

function closingIndex(text: string, from: number): number {
  let depth = 0;
  const marks = /"(?:[^"\\]|\\.)*"|[{}[\]]/gs;
  marks.lastIndex = from;
  for (let match = marks.exec(text); match; match = marks.exec(text)) {
    const [mark] = match;
    if (mark === "{" || mark === "[") depth++;
    else if (mark === "}" || mark === "]") depth--;
    if (depth === 0) return match.index;
  }
  return -1;
}

function splitCells(line: string): string[] | undefined {
  const separator = [",", "\t", ";", "|"].find((mark) => line.includes(mark));
  if (separator === undefined || line.trim() === "") return undefined;
  const cell = new RegExp(
    `\\s*(?:"((?:[^"]|"")*)"|([^${separator === "|" ? "\\|" : separator}]*))\\s*(?:[${separator}]|$)`,
    "gy",
  );
  const cells: string[] = [];
  for (const [whole, quoted, bare] of line.matchAll(cell)) {
    if (whole === "" && !line.endsWith(separator)) break;
    cells.push((quoted?.replace(/""/g, '"') ?? bare ?? "").trim());
    if (!whole.endsWith(separator)) break;
  }
  return cells.length > 1 ? cells : undefined;
}

/** True for a short name that is not a number; a line of prose with commas in it has longer cells. */
function isColumnName(cell: string): boolean {
  return /^\p{L}[\p{L}\p{N}_ -]{0,30}$/u.test(cell) && cell.split(/\s+/).length <= 3;
}

function toRow(header: readonly string[], cells: readonly string[]): JsonObject {
  return Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ""]));
}
