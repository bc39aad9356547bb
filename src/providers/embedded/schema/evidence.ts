/**
 * Values in a conversation, looked up by the names that a schema uses.
 *
 * Records (JSON objects, table rows, an intent's own facts) are searched first, because in them a name is
 * beside its value; then sentences ("the city is Paris"); then words that are usually near such a value
 * ("lives in Paris" for `city`).
 */

import { isJsonObject, type Json, type JsonObject } from "../../../base/json.ts";
import { findDocuments, findRows } from "./embedded-data.ts";
import { findFormat } from "./formats.ts";
import { canonical } from "./shape.ts";

export interface Evidence {
  /** Possible values of `key`, the best first. */
  lookUp(key: string): readonly Json[];
  /** Values of `key` in records, for decisions. Prose gives none ("only if approved is true"). */
  stated(key: string): readonly Json[];
  /** The words listed after `key`: "tags: red, green and blue". */
  list(key: string): readonly Json[];
  /** The values of `key` alone, if a record has an object under that name. */
  within(key: string): Evidence | undefined;
  /** Records that have at least one of the keys: the rows of a table. */
  rows(keys: readonly string[]): readonly Evidence[];
  /** Whole JSON documents found in the texts. */
  readonly documents: readonly Json[];
  readonly text: string;
  /** The text for `answer` and similar keys. */
  readonly answer: string | undefined;
}

export interface EvidenceSource {
  /** The best text first. */
  readonly texts: readonly string[];
  readonly data?: JsonObject | undefined;
  readonly answer?: string | undefined;
}

/** Every key is searched in all of the text, so only this many characters of a long text are used. */
const MAX_CHARS = 200_000;

/** Evidence from all texts, for arguments that must have a value. */
export function createEvidence({ texts, data, answer }: EvidenceSource): Evidence {
  const text = texts.join("\n").slice(0, MAX_CHARS);
  const documents = texts.flatMap(findDocuments);
  const records = [data ? [data] : [], [...documents, ...texts.flatMap(findRows)]];
  return toEvidence({ text, documents, records: records.map(toRecords), answer });
}

/** Texts, divided into data and prose. */
export interface Material {
  /** Each is a document, a table or a list of pairs, without other text around it. */
  readonly documents: readonly Json[];
  /** Texts with other words in them. Texts and numbers are taken from them, but no decisions. */
  readonly prose: readonly string[];
}

export interface StatedSource extends Material {
  /** An intent's own facts. */
  readonly data?: JsonObject | undefined;
  readonly answer?: string | undefined;
}

/**
 * Evidence for an answer, from explicit statements only. A name with several values in the documents has
 * none.
 */
export function createStatedEvidence(source: StatedSource): Evidence {
  const { documents, prose, data, answer } = source;
  const text = prose.join("\n").slice(0, MAX_CHARS);
  const records = [data ? [data] : [], documents].map(toRecords);
  return toEvidence({ text, documents, records, answer, isStrict: true });
}

interface Sources {
  /** With the words around the values. */
  readonly text: string;
  readonly documents: readonly Json[];
  /** The most reliable first. */
  readonly records: readonly (readonly JsonObject[])[];
  readonly answer: string | undefined;
  /** True if a name that has several values among records of one level has none. */
  readonly isStrict?: true;
}

function toEvidence({ text, documents, records, answer, isStrict }: Sources): Evidence {
  return { lookUp, stated, list, within, rows, documents, text, answer };

  function stated(key: string): Json[] {
    return records.flatMap((level) => {
      const values = fromRecords(level, key);
      return isStrict && new Set(values.map(canonical)).size > 1 ? [] : values;
    });
  }

  function lookUp(key: string): Json[] {
    return [...stated(key), ...fromSentences(text, key), ...fromHints(text, key)];
  }

  function list(key: string): Json[] {
    const values = stated(key);
    const whole = values.find((value) => Array.isArray(value));
    if (Array.isArray(whole)) return whole;
    const [words] = values.filter((value) => typeof value === "string");
    return words === undefined ? fromListing(text, key) : splitList(words);
  }

  function within(key: string): Evidence | undefined {
    const inner = stated(key).find(isJsonObject);
    return inner && toEvidence({ ...NOTHING, records: [[inner]] });
  }

  function rows(keys: readonly string[]): Evidence[] {
    const wanted = new Set(keys.map(toPlainKey));
    const named = (records.at(-1) ?? []).filter((record) => hasKeyOf(record, wanted));
    return named.map((row) => toEvidence({ ...NOTHING, records: [[row]] }));
  }
}

const NOTHING = { text: "", documents: [], answer: undefined } as const;

/** The objects among documents, and those in lists. */
function toRecords(documents: readonly Json[]): JsonObject[] {
  return documents
    .flatMap((document) => (Array.isArray(document) ? document : [document]))
    .filter(isJsonObject);
}

/** `firstName`, `first_name` and `First name` are one key. */
export function toPlainKey(key: string): string {
  return key
    .replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .join(" ");
}

function hasKeyOf(record: JsonObject, wanted: ReadonlySet<string>): boolean {
  return Object.keys(record).some((key) => wanted.has(toPlainKey(key)));
}

function fromRecords(records: readonly JsonObject[], key: string): Json[] {
  const wanted = toPlainKey(key);
  return records.flatMap((record) =>
    Object.entries(record).flatMap(([name, value]) =>
      value !== undefined && toPlainKey(name) === wanted ? [value] : [],
    ),
  );
}

const LETTERS = "[\\p{L}'’-]*";
/** One or more capitalized words. */
export const NAME = `\\p{Lu}${LETTERS}(?:\\s+\\p{Lu}${LETTERS})*`;
const QUOTED = "\"([^\"\\n]+)\"|'([^'\\n]+)'|`([^`\\n]+)`";
/** Starts only where a number does: otherwise a long one would be read again at each digit. */
const NUMBER = "(?<!\\d,?)-?\\d[\\d,]*(?:\\.\\d+)?";

function fromSentences(text: string, key: string): string[] {
  const words = keyPattern(key);
  if (words === undefined) return [];
  const linked = new RegExp(
    `(?<![\\p{L}\\p{N}])${words}["'\`]?\\s*(?::|=|\\bis\\b|\\bare\\b|\\bwas\\b)\\s*([^\\n]+)`,
    "giu",
  );
  const beside = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${flexible(words)})\\s+(?:of\\s+|named\\s+|called\\s+)?(${QUOTED}|${NAME}|${NUMBER})`,
    "gu",
  );
  const before = new RegExp(`(${NUMBER})\\s+${words}(?![\\p{L}\\p{N}])`, "giu");
  return [
    ...[...text.matchAll(linked)].flatMap(([, tail = ""]) => readValue(tail)),
    ...[...text.matchAll(beside)].map(([, value = ""]) => value.replace(/^["'`]|["'`]$/g, "")),
    ...[...text.matchAll(before)].map(([, value = ""]) => value),
  ];
}

/** The value at the beginning of the rest of a line: up to a comma, an "and", or the end. */
function readValue(tail: string): string[] {
  const quoted = new RegExp(`^(?:${QUOTED})`).exec(tail);
  if (quoted) return [quoted[1] ?? quoted[2] ?? quoted[3] ?? ""];
  const clause =
    tail.split(/[,;]\s|[.!?](?:\s|$)|\s+(?:and|but|or|with)\s+|[,;]$/)[0]?.trim() ?? "";
  const word = /^\S+/.exec(clause)?.[0]?.replace(/[.,;:!?)]+$/, "") ?? "";
  const line = tail.trim();
  return [...new Set([clause, word, line])].filter((value) => value !== "");
}

function fromListing(text: string, key: string): string[] {
  const words = keyPattern(key);
  if (words === undefined) return [];
  const listed = new RegExp(
    `(?<![\\p{L}\\p{N}])${words}\\s*(?::|=|\\bare\\b|\\bincludes?\\b)\\s*([^\\n.;]+)`,
    "iu",
  );
  const [, tail] = listed.exec(text) ?? [];
  if (tail === undefined) return [];
  return splitList(tail);
}

function splitList(words: string): string[] {
  return words
    .split(/\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+/)
    .map((part) => part.trim().replace(/^["'`]|["'`]$/g, ""))
    .filter((part) => part !== "");
}

function keyPattern(key: string): string | undefined {
  const words = toPlainKey(key);
  return words === "" ? undefined : words.split(" ").join("[\\s_-]*");
}

/** Matches the words in lower case or capitalized, for patterns that are otherwise case-sensitive. */
function flexible(words: string): string {
  return words.replace(/^\p{Ll}/u, (first) => `[${first}${first.toUpperCase()}]`);
}

interface Hint {
  readonly keys: RegExp;
  find(text: string): readonly string[];
}

const HINTS: readonly Hint[] = [
  {
    keys: /\b(name|person|author|customer|user)$/,
    find: (text) =>
      matches(text, `\\b(?:[Nn]amed|[Cc]alled|I am|I'm|[Tt]his is|[Nn]ame is)\\s+(${NAME})`),
  },
  {
    keys: /\b(city|town|location|place|country|destination|region)$/,
    find: (text) => matches(text, `\\b(?:in|from|to|near|at|for)\\s+(${NAME})`),
  },
  {
    keys: /\bage$/,
    find: (text) => matches(text, "(\\d{1,3})[- ]years?[- ]old|\\baged?\\s+(\\d{1,3})"),
  },
  { keys: /\b(e ?mail|mail)\b/, find: (text) => findFormat("email", text) },
  { keys: /\b(url|uri|link|website|homepage)\b/, find: (text) => findFormat("uri", text) },
  { keys: /\b(date|day|deadline|birthday|born)\b/, find: (text) => findFormat("date", text) },
  { keys: /\b(phone|telephone)\b/, find: (text) => matches(text, "(\\+?\\d[\\d ()-]{6,}\\d)") },
  {
    keys: /\b(price|cost|amount|total|fee)$/,
    find: (text) =>
      matches(
        text,
        `[$€£]\\s?(${NUMBER})|(${NUMBER})\\s?(?:dollars|euros|pounds|USD|EUR|GBP|[€£])`,
      ),
  },
  { keys: /\btemperature\b/, find: (text) => matches(text, `(${NUMBER})\\s?(?:°|degrees)`) },
  {
    keys: /\b(path|file|filename|file ?path|directory|folder|dir)$/,
    find: (text) =>
      matches(
        text,
        "(?:^|[\\s\"'`(])((?:[\\w.@~+-]*/)+[\\w.@~+-]*|[\\w.@~+-]*[\\w@~+-]\\.[A-Za-z]\\w{0,9})",
      ),
  },
];

function fromHints(text: string, key: string): string[] {
  const plain = toPlainKey(key);
  return HINTS.filter(({ keys }) => keys.test(plain)).flatMap(({ find }) => find(text));
}

/** The first matched group of each match. */
function matches(text: string, pattern: string): string[] {
  return [...text.matchAll(new RegExp(pattern, "gu"))].flatMap(([, ...groups]) =>
    groups.filter((group) => group !== undefined).slice(0, 1),
  );
}
