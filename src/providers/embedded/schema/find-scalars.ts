/** Values for a key that is not a list or an object, the best first. They may be invalid: check them. */

import type { Json, JsonObject } from "../../../base/json.ts";
import { clip } from "../../../base/text.ts";
import { coerce } from "./coerce.ts";
import { type Evidence, toPlainKey } from "./evidence.ts";
import { toPattern } from "./fits.ts";
import { findFormat } from "./formats.ts";

const MAX_TEXT_CHARS = 300;
const MAX_TITLE_CHARS = 80;

export function* findScalars(
  type: string,
  key: string,
  schema: JsonObject,
  evidence: Evidence,
): Generator<Json> {
  for (const value of evidence.lookUp(key)) yield* coerce(type, value);
  if (type === "boolean") yield* findMention(key, evidence.text);
  if (type !== "string") return;
  const { format, pattern } = schema;
  if (typeof format === "string") yield* findFormat(format, evidence.text);
  if (typeof pattern === "string") yield* findPattern(pattern, evidence.text);
  yield* findWholeText(key, evidence);
}

/** Options named beside the key, then those anywhere in the text, in the text's order. */
export function* findOptions(
  options: readonly Json[],
  key: string,
  evidence: Evidence,
): Generator<Json> {
  for (const value of evidence.lookUp(key)) {
    const wanted = String(value).toLowerCase();
    const same = options.find((option) => String(option).toLowerCase() === wanted);
    if (same !== undefined && same !== null) yield same;
  }
  const text = evidence.text.toLowerCase();
  const present = options.flatMap((option) => {
    const at = typeof option === "string" && option !== "" ? indexOfWord(text, option) : -1;
    return at < 0 ? [] : [{ option, at }];
  });
  for (const { option } of present.sort((a, b) => a.at - b.at)) yield option;
}

/** `is_urgent` is true in a text that says "urgent" and false in one that says "not urgent". */
function* findMention(key: string, text: string): Generator<boolean> {
  const words = toPlainKey(key).replace(/^(is|has|was|are|should|can|needs?)\s+/, "");
  const at = words === "" ? -1 : indexOfWord(text.toLowerCase(), words);
  if (at < 0) return;
  yield !/\b(not|no|never|without|isn't|n't)\s+(a\s+|an\s+|very\s+)?$/i.test(text.slice(0, at));
}

function indexOfWord(text: string, word: string): number {
  const escaped = word.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const spaced = escaped.replace(/[\s_-]+/g, "[\\s_-]+");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${spaced}(?![\\p{L}\\p{N}])`, "u");
  return pattern.exec(text)?.index ?? -1;
}

export function findPattern(pattern: string, text: string): string[] {
  const whole = toPattern(pattern);
  return text.split(/[\s,;"'`()]+/).filter((word) => word !== "" && whole?.test(word) === true);
}

/** The answer for keys that ask for it, and the text for keys that ask for it. */
function* findWholeText(key: string, { answer, text }: Evidence): Generator<string> {
  const plain = toPlainKey(key);
  const isAnswer = /\b(answer|reply|response|result|output|explanation|reason|message)$/.test(
    plain,
  );
  if (answer !== undefined && isAnswer) yield answer;
  const isText = /\b(text|content|summary|description|title|question|message|input)$/.test(plain);
  if (text === "" || !isText) return;
  yield clip(text, MAX_TEXT_CHARS);
  yield clip(text, MAX_TITLE_CHARS);
}
