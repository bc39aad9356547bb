/**
 * Intents that search for text in files, and for files by a pattern. Text is searched with a search tool if
 * one is offered; otherwise the files are listed, read in parallel and filtered.
 */

import { isJsonObject } from "../../../base/json.ts";
import { plural } from "../../../base/text.ts";
import type { EmbeddedConversation } from "../conversation.ts";
import { isFilePath, toDirectory } from "../slots.ts";
import { isRefusal, numberIn, parseResult, textIn } from "../tool-results.ts";
import { MAYBE_IN_DIR } from "../wording.ts";
import {
  callTool,
  chooseTool,
  findPaths,
  inDirectory,
  join,
  type PlanStep,
  readAll,
  refusal,
  writePaths,
} from "./file-steps.ts";
import { defineIntent, type Intent, type IntentAnswer } from "./intent.ts";

const MAX_HITS = 100;
const WHERE = "(in|inside|within|under|across|throughout)";
const FIND = "(find|search for|search|look for|grep [for]|locate)";
const A_TEXT =
  "[(the text|the word|the string|the phrase|the term|text|all|all occurrences of|occurrences of|every|mentions of|all mentions of)] ({text=quoted}|{words=phrase}) [comments]";

const TODOS = "{what=todo} [(comments?|notes?|items?|markers?)]";

const findText = defineIntent<"text" | "words" | "dir">({
  name: "find-text",
  summary: "find text in the files of a directory",
  tools: ["bash_find", "read"],
  phrasings: [
    "find TODO in src",
    'search for "export function" in src/base',
    "grep FIXME test",
    "which files mention undici?",
    "look for the word password in config.yaml",
    "search src for TODO",
    "where is createProvider used in src?",
    "find all occurrences of 'max_turns' here",
    "find deprecated in all files",
  ],
  templates: [
    `${FIND} ${A_TEXT} ${WHERE} [(all|the|all the|all of the|any|every)] files?`,
    `(${FIND}|show [me]) ${A_TEXT} ${WHERE} [all] [of] [the] [files] [(in|of|under)] {dir}`,
    `${FIND} ${A_TEXT} here`,
    "(grep|rg) [-rn] [-r] [-n] ({text=quoted}|{words=phrase}) {dir}",
    "(search|scan|look in|look through|check) [all] [of] (the|my|our|these|all) (files|documents) for [the (word|text|string)] ({text=quoted}|{words=phrase})",
    "(search|grep|scan|look in|look through|check) {dir} for [the (word|text|string)] ({text=quoted}|{words=phrase})",
    `(which|what) files [${WHERE} {dir}] (contain|mention|use|reference|include|have|import) [the (word|text|string)] ({text=quoted}|{words=phrase}) ${MAYBE_IN_DIR}`,
    `where (is|are|do we) ({text=quoted}|{words=phrase}) (used|mentioned|defined|referenced|imported|called) ${MAYBE_IN_DIR}`,
  ],
  *plan({ text, words = "", dir }, conversation) {
    const terms = text === undefined ? words.split(/\s+(?:and|or)\s+/i) : [text];
    if (hasOnlyDocuments(conversation)) return yield* searchDocuments(terms);
    return yield* searchFor(terms, toDirectory(dir), conversation);
  },
});

const findTodos = defineIntent<"what" | "dir">({
  name: "find-todos",
  summary: "find TODO comments",
  tools: ["bash_find", "read"],
  hints: /\b(todo|fixme)/i,
  phrasings: [
    "find TODOs",
    "any TODOs?",
    "list all TODO comments in src",
    "are there any FIXMEs here?",
    "show me the TODOs in test",
    "what TODOs are left in this repo?",
  ],
  templates: [
    `[(find|list|show [me]|search for|look for|print|give me|grep)] [(all|any|the|all the|every|open)] ${TODOS} ${MAYBE_IN_DIR}`,
    `[(are there|is there|do we have|have we)] (any|some|a|open|more) ${TODOS} [left] ${MAYBE_IN_DIR}`,
    `(what|which) ${TODOS} (are there|do we have|are left|remain|exist) ${MAYBE_IN_DIR}`,
  ],
  // "Find TODO in src" names the exact word, and is an ordinary search.
  accept: ({ what = "" }, { asked }) =>
    /s$/i.test(what) || /\b(comments?|notes?|any)\b/i.test(asked.join(" ")),
  *plan({ what = "", dir }, conversation) {
    const term = what.replace(/s$/i, "").toUpperCase();
    return yield* searchFor([term], toDirectory(dir), conversation);
  },
});

/** Finds the lines with one of the terms in a file or below a folder, and writes them as an answer. */
function* searchFor(
  terms: readonly string[],
  path: string,
  conversation: EmbeddedConversation,
): PlanStep<IntentAnswer> {
  const found = yield* searchFiles(terms, path, conversation);
  if ("text" in found) return found;
  const { hits, total, note } = found;
  const files = [...new Set(hits.map((hit) => hit.path))];
  const data = { matches: hits, results: hits, count: total, files };
  const quoted = terms.map((term) => `"${term}"`).join(" or ");
  const where = isFilePath(path) ? `in \`${path}\`` : inDirectory(path);
  if (hits.length === 0)
    return { text: join([`No ${quoted} ${where}${found.looked}.`, note]), data };
  const shown = hits.slice(0, MAX_HITS).map((hit) => `${hit.path}:${hit.line}: ${hit.text}`);
  const rest = total > shown.length ? `… and ${total - shown.length} more` : undefined;
  // A page of a search may be the first of several: then the number of files is not known.
  const within = total > hits.length ? "" : ` in ${plural(files.length, "file")}`;
  const title = `${plural(total, "line")} with ${quoted}${within} ${where}:`;
  return { text: join([title, shown.join("\n"), rest, note]), data };
}

/** True if the files are a document store that a tool searches, and not a folder. */
function hasOnlyDocuments({ tools }: EmbeddedConversation): boolean {
  const names = new Set(tools.map(({ name }) => name));
  const inFolders = ["bash_ripgrep", "grep", "bash_find", "read", "bash_read"];
  return names.has("file_search") && !inFolders.some((name) => names.has(name));
}

function* searchDocuments(terms: readonly string[]): PlanStep<IntentAnswer> {
  const output = yield* callTool("file_search", { queries: [...terms] });
  if (isRefusal(output)) return refusal("file_search", output);
  const quoted = terms.map((term) => `"${term}"`).join(" or ");
  if (output.trim() === "") return { text: `The files say nothing about ${quoted}.` };
  return { text: join([`What the files say about ${quoted}:`, output.trim()]) };
}

interface Found {
  readonly hits: readonly Hit[];
  readonly total: number;
  /** How much was searched, for an answer that found nothing. */
  readonly looked: string;
  readonly note: string;
}

interface Hit {
  readonly [field: string]: string | number;
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

function* searchFiles(
  terms: readonly string[],
  path: string,
  conversation: EmbeddedConversation,
): PlanStep<Found | IntentAnswer> {
  const tool = chooseTool(["bash_ripgrep", "grep"], conversation);
  const isOffered = conversation.tools.some(({ name }) => name === tool);
  if (!isOffered) return yield* searchByReading(terms, path);
  const pattern = terms.map(toPattern).join("|");
  const place = tool === "grep" ? { path, case_sensitive: true } : { files: path, limit: MAX_HITS };
  const output = yield* callTool(tool, { pattern, ...place });
  const page = parseResult(output);
  const results = page?.["results"] ?? page?.["matches"];
  if (!page || !Array.isArray(results)) return refusal(tool, output);
  const hits = results.flatMap((result) => toHit(result) ?? []);
  return { hits, total: numberIn(page, "total") ?? hits.length, looked: "", note: "" };
}

/** Reads a hit: `path:number:text` of `bash_ripgrep`, or the object of `grep`. */
function toHit(result: unknown): Hit | undefined {
  if (isJsonObject(result)) {
    const path = textIn(result, "path");
    return { path, line: numberIn(result, "line") ?? 0, text: textIn(result, "text").trim() };
  }
  const [, path, line, text = ""] = /^(.*?):(\d+):(.*)$/s.exec(String(result)) ?? [];
  return path === undefined ? undefined : { path, line: Number(line), text: text.trim() };
}

function* searchByReading(terms: readonly string[], path: string): PlanStep<Found | IntentAnswer> {
  let paths: readonly string[] = [path];
  if (!isFilePath(path)) {
    const found = yield* findPaths(path, "f", []);
    if (!found.ok) return refusal("bash_find", found.problem);
    paths = found.paths;
  }
  const read = yield* readAll(paths);
  if ("text" in read) return read;
  const { files, skipped } = read;
  const hits = files.flatMap((file) =>
    file.lines
      .filter((line) => terms.some((term) => includesText(line.text, term)))
      .map((line) => ({ path: file.path, line: line.number, text: line.text.trim() })),
  );
  const looked = ` (${plural(files.length, "file")} read)`;
  return { hits, total: hits.length, looked, note: skipped };
}

/** Like a search box: a capital letter in the words makes the search case-sensitive. */
function includesText(line: string, text: string): boolean {
  return hasCapital(text) ? line.includes(text) : line.toLowerCase().includes(text);
}

/** The searched text as a regular expression. */
function toPattern(text: string): string {
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return hasCapital(text) ? escaped : `(?i:${escaped})`;
}

function hasCapital(text: string): boolean {
  return /\p{Lu}/u.test(text);
}

const globFiles = defineIntent<"pattern" | "dir">({
  name: "glob-files",
  summary: "find files by a pattern",
  tools: ["glob"],
  hints: /[*?{]/,
  phrasings: [
    "glob src/**/*.ts",
    "find files matching test/**/*.test.ts",
    "which files match docs/*.md?",
    "list all files that match **/package.json",
    "show me the files matching `*.lock` in web",
  ],
  templates: [
    `glob [for] {pattern} ${MAYBE_IN_DIR}`,
    `(find|list|show|get|give) [me] [all] [the] files (matching|that match|which match|like|that fit) [the pattern] {pattern} ${MAYBE_IN_DIR}`,
    `(which|what) files (match|fit) [the pattern] {pattern} ${MAYBE_IN_DIR}`,
  ],
  accept: ({ pattern = "" }) => /[*?{[]/.test(pattern),
  *plan({ pattern = "", dir }) {
    const path = toDirectory(dir);
    const output = yield* callTool("glob", { pattern, path });
    if (isRefusal(output) || output.trim() === "") return refusal("glob", output);
    if (/^No files matching /.test(output)) {
      return { text: output.trim(), data: { files: [], results: [], count: 0 } };
    }
    const lines = output.trim().split("\n");
    const files = lines.filter((line) => !/^\.\.\. and \d+ more/.test(line));
    const more = lines.length > files.length ? lines.at(-1) : undefined;
    const title = `${plural(files.length, "file")} matching \`${pattern}\` ${inDirectory(path)}:`;
    const text = join([`${title}\n${writePaths(files)}`, more]);
    return { text, data: { files, results: files, count: files.length } };
  },
});

export const SEARCHING: readonly Intent[] = [globFiles, findTodos, findText];
