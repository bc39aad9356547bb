/** Structured data inside a plain text: JSON documents and tables of comma-separated values. */

import type { Json, JsonObject } from "../../../base/json.ts";
import { tryParseJson } from "../../../base/json.ts";

/** Longer texts are searched this far: looking for brackets in a large log costs more than it finds. */
const MAX_CHARS = 200_000;
/** Brackets tried at most: each one that closes nowhere costs a look at the whole text. */
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
    // Past a document that was read; else one step, because an inner bracket may open one.
    at = document === undefined ? at + 1 : end + 1;
  }
  return documents;
}

/** The rows of every table in a text: two lines or more with as many separators, names in the first. */
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

/** "city: Paris, country: France" and lines of that form, as an object; `undefined` when there is none. */
export function findPairs(text: string): JsonObject | undefined {
  const pair =
    /(?:^|[\n,;])\s*(\p{L}[\p{L}\p{N}_ -]{0,30}?)\s*[:=]\s*([^\n]*?)(?=\s*(?:$|\n|[,;]\s*\p{L}[\p{L}\p{N}_ -]{0,30}?\s*[:=]))/gu;
  const pairs = [...text.slice(0, MAX_CHARS).matchAll(pair)].flatMap(([, key = "", value = ""]) =>
    value === "" ? [] : [[key, toPairValue(value)] as const],
  );
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

/** Numbers, `true` and `false` as what they are. */
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

/** A name is short and no number; a line of prose with commas in it has longer cells. */
function isColumnName(cell: string): boolean {
  return /^\p{L}[\p{L}\p{N}_ -]{0,30}$/u.test(cell) && cell.split(/\s+/).length <= 3;
}

function toRow(header: readonly string[], cells: readonly string[]): JsonObject {
  return Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ""]));
}
