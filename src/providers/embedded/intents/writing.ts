/** Intents that create files and change their text. They need `write` and `edit`. */

import { plural } from "../../../base/text.ts";
import { withoutFence } from "../slots.ts";
import { numberIn, parseResult } from "../tool-results.ts";
import { isVerbatim } from "../wording.ts";
import { callTool, refusal } from "./file-steps.ts";
import { defineIntent, type Intent } from "./intent.ts";

const A_FILE = "[(a|the)] [new] [file] [(named|called)] {file}";
const WORDS = "[(the (text|content|contents|words?|line|following)|this|text|content|contents)]";
const CONTENT = `${WORDS} ({text=quoted}|{block}|{words=text})`;

const writeFile = defineIntent<"text" | "block" | "words" | "empty" | "file">({
  name: "write-file",
  summary: "write words to a file",
  tools: ["write"],
  acts: true,
  hints: /\b(write|save|put|store|create|make|set)\b/i,
  phrasings: [
    'write "hello" to notes.txt',
    "write hello world to out/greeting.txt",
    "save 'all done' in status.txt",
    'create the file src/one.ts with the content "export {};"',
    "make a file named todo.md containing 'buy milk'",
    "write to log.txt: started at nine",
    "create an empty file named src/empty.ts",
  ],
  templates: [
    `(write|save|put|store) ${CONTENT} (to|into|in) ${A_FILE}`,
    `(write|save|put|store) ${WORDS} (to|into|in) ${A_FILE} {block}`,
    `(write|save|put) (to|into) ${A_FILE} ${CONTENT}`,
    `(write|create|make) [(a|the)] [new] file [(named|called)] {file} (with|containing|that contains|that says|holding|and write|saying) ${CONTENT}`,
    `set the (text|content|contents) of [the] [file] {file} to ${CONTENT}`,
    "(create|make) (a|an|the) [new] {empty=none} file [(named|called)] {file}",
  ],
  accept: ({ words, empty }) => empty !== undefined || words === undefined || isVerbatim(words),
  *plan({ text, block, words, file = "" }) {
    const content = block === undefined ? (text ?? words ?? "") : `${withoutFence(block)}\n`;
    const output = yield* callTool("write", { path: file, content });
    const result = parseResult(output);
    if (result?.["success"] !== true) return refusal("write", output);
    const count = plural(numberIn(result, "new_lines") ?? content.split("\n").length, "line");
    const how = result["is_new_file"] === true ? "a new file" : "in place of what it held";
    return { text: `Wrote ${count} to \`${file}\`, ${how}.`, data: { path: file, ...result } };
  },
});

const OLD = "[(the (text|word|string|line)|text)] ({old=quoted}|{from=phrase})";
const NEW = "({new=quoted}|{to=phrase})";
const IN_FILE = "(in|inside|within) [the] [file] {file}";

const editFile = defineIntent<"old" | "from" | "new" | "to" | "gone" | "file">({
  name: "edit-file",
  summary: "replace words in a file",
  tools: ["edit"],
  acts: true,
  hints: /\b(replace|change|swap|substitute|remove|delete|cut|drop)\b/i,
  phrasings: [
    "replace 'colour' with 'color' in style.css",
    "change foo to bar in src/main.ts",
    'in package.json, replace "1.0.0" by "1.1.0"',
    "substitute hello with goodbye in the file notes.txt",
    "edit README.md and change 'Draft' to 'Final'",
    "remove the line 'debugger;' from src/app.js",
  ],
  templates: [
    `(replace|change|swap|substitute) ${OLD} (with|by|to|for|into) ${NEW} ${IN_FILE}`,
    `(in|edit) [the] [file] {file} [(and|to)] (replace|change|substitute) ${OLD} (with|by|to|for) ${NEW}`,
    "(remove|delete|cut|drop) [the] [(text|words?|string|line)] {gone=quoted} from [the] [file] {file}",
  ],
  *plan({ old, from, new: fresh, to, gone, file = "" }) {
    const old_string = old ?? from ?? gone ?? "";
    const new_string = gone === undefined ? (fresh ?? to ?? "") : "";
    const input = { path: file, old_string, new_string };
    const output = yield* callTool("edit", input);
    const result = parseResult(output);
    if (result?.["success"] !== true) return refusal("edit", output);
    const line = numberIn(result, "start_line");
    const where = line === undefined ? "" : `, line ${line}`;
    const done =
      new_string === ""
        ? `Removed "${old_string}" from \`${file}\`${where}.`
        : `Replaced "${old_string}" with "${new_string}" in \`${file}\`${where}.`;
    return { text: done, data: { path: file, ...result } };
  },
});

export const WRITING: readonly Intent[] = [writeFile, editFile];
