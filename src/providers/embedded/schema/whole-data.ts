/**
 * Recognizes a text that is nothing but data: a JSON document, JSON lines, a table, or lines and clauses
 * `name: value`. JSON inside another text does not count: a diff that adds `{"approved": true}` states
 * nothing.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../../base/json.ts";
import { withoutFence } from "../slots.ts";
import { findRows, toPairValue } from "./embedded-data.ts";

export interface WholeData {
  /**
   * How certain it is that the text is data: JSON always is, a table nearly always, and a pair may be a
   * sentence.
   */
  readonly kind: "document" | "table" | "pairs";
  readonly value: JsonObject | readonly Json[];
}

/** Longer texts are not examined: a record is not that long, and a log is not one. */
const MAX_CHARS = 200_000;

export function toWholeData(text: string): WholeData | undefined {
  const whole = text.trim();
  if (whole === "" || whole.length > MAX_CHARS) return undefined;
  const document = toDocument(withoutFence(whole));
  if (document) return { kind: "document", value: document };
  const table = toTable(whole);
  if (table) return { kind: "table", value: table };
  const pairs = toPairs(whole);
  return pairs && { kind: "pairs", value: pairs };
}

function toDocument(text: string): WholeData["value"] | undefined {
  const document = tryParseJson(text);
  if (isJsonObject(document) || Array.isArray(document)) return document;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const records = lines.map((line) => tryParseJson(line));
  return records.length > 1 && records.every(isJsonObject) ? records : undefined;
}

/** Every line below the names has as many cells as there are names. */
function toTable(text: string): readonly JsonObject[] | undefined {
  const rows = findRows(text);
  return rows.length > 0 && rows.length === text.split("\n").length - 1 ? rows : undefined;
}

const KEY = "\\p{L}[\\p{L}\\p{N}_ -]{0,30}?";
const NEXT_PAIR = new RegExp(`\\r?\\n|[,;]\\s+(?=${KEY}\\s*[:=])`, "u");
const PAIR = new RegExp(`^(${KEY})\\s*[:=]\\s*(\\S.*?)[,;]?$`, "u");

/** Undefined if the text has anything but pairs, or if a name has two values. */
function toPairs(text: string): JsonObject | undefined {
  const pairs = new Map<string, string>();
  for (const clause of text.split(NEXT_PAIR)) {
    const [, key = "", value = ""] = PAIR.exec(clause.trim()) ?? [];
    if (key === "" || (pairs.get(key) ?? value) !== value) return undefined;
    pairs.set(key, value);
  }
  return Object.fromEntries([...pairs].map(([key, value]) => [key, toPairValue(value)]));
}
