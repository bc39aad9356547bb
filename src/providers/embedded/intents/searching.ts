/** The intent that looks for text in files: finds the files, reads them side by side, and filters. */

import { plural } from "../../../base/text.ts";
import { isFilePath, toDirectory } from "../slots.ts";
import { MAYBE_IN_DIR } from "../wording.ts";
import { findPaths, inDirectory, join, readAll, refusal } from "./file-steps.ts";
import { defineIntent, type Intent } from "./intent.ts";

const MAX_HITS = 100;
const WHERE = "(in|inside|within|under|across|throughout)";
const A_TEXT =
  "[(the text|the word|the string|the phrase|the term|text|all|all occurrences of|occurrences of|every|mentions of|all mentions of)] ({text=quoted}|{words=phrase}) [comments]";

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
  ],
  templates: [
    `(find|search for|search|look for|grep [for]|show [me]|locate) ${A_TEXT} ${WHERE} [all] [of] [the] [files] [(in|of|under)] {dir}`,
    `(find|search for|search|look for|grep [for]|locate) ${A_TEXT} here`,
    "(grep|rg) [-rn] [-r] [-n] ({text=quoted}|{words=phrase}) {dir}",
    "(search|grep|scan|look in|look through|check) {dir} for [the (word|text|string)] ({text=quoted}|{words=phrase})",
    `(which|what) files [${WHERE} {dir}] (contain|mention|use|reference|include|have|import) [the (word|text|string)] ({text=quoted}|{words=phrase}) ${MAYBE_IN_DIR}`,
    `where (is|are|do we) ({text=quoted}|{words=phrase}) (used|mentioned|defined|referenced|imported|called) ${MAYBE_IN_DIR}`,
  ],
  *plan({ text, words = "", dir }) {
    const terms = text === undefined ? words.split(/\s+(?:and|or)\s+/i) : [text];
    const quoted = terms.map((term) => `"${term}"`).join(" or ");
    const path = toDirectory(dir);
    let paths: readonly string[] = [path];
    if (!isFilePath(path)) {
      const found = yield* findPaths(path, "f", []);
      if (!found.ok) return refusal("bash_find", found.problem);
      paths = found.paths;
    }
    const { files, skipped } = yield* readAll(paths);
    const hits = files.flatMap((file) =>
      file.lines
        .filter((line) => terms.some((term) => includesText(line.text, term)))
        .map((line) => ({ path: file.path, line: line.number, text: line.text.trim() })),
    );
    const within = new Set(hits.map((hit) => hit.path)).size;
    const data = {
      matches: hits,
      results: hits,
      count: hits.length,
      files: [...new Set(hits.map((hit) => hit.path))],
    };
    const where = isFilePath(path) ? `in \`${path}\`` : inDirectory(path);
    if (hits.length === 0)
      return {
        text: join([`No ${quoted} ${where} (${plural(files.length, "file")} read).`, skipped]),
        data,
      };
    const shown = hits.slice(0, MAX_HITS).map((hit) => `${hit.path}:${hit.line}: ${hit.text}`);
    const rest = hits.length > MAX_HITS ? `… and ${hits.length - MAX_HITS} more` : undefined;
    const title = `${plural(hits.length, "line")} with ${quoted} in ${plural(within, "file")} ${where}:`;
    return { text: join([title, shown.join("\n"), rest, skipped]), data };
  },
});

/** As people expect of a search box: a capital letter in the words asks for that very spelling. */
function includesText(line: string, text: string): boolean {
  return /\p{Lu}/u.test(text) ? line.includes(text) : line.toLowerCase().includes(text);
}

export const SEARCHING: readonly Intent[] = [findText];
