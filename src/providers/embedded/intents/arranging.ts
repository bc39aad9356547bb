/** Intents that move, copy, delete and extend files and make folders. They need `file_ops`. */

import type { JsonObject } from "../../../base/json.ts";
import { plural } from "../../../base/text.ts";
import { toDirectory, withoutFence } from "../slots.ts";
import { isRefusal } from "../tool-results.ts";
import { isVerbatim, LIST } from "../wording.ts";
import { callTool, inDirectory, type PlanStep, refusal, writePaths } from "./file-steps.ts";
import { defineIntent, type Intent, type IntentAnswer } from "./intent.ts";

const tools = ["file_ops"];
const A_FOLDER = "the [(empty|new|old)] (folder|directory|dir)";
/**
 * A single word is a path only after "folder" or "directory": "move the meeting" is not a request to move a
 * file.
 */
const FROM = `([the] [file] {from=file}|${A_FOLDER} {from=path})`;
const TO = `((to|into) ${A_FOLDER} {into=path}|(to|into) the {into=path} (folder|directory|dir)|into {into=path}|[(to|as)] {to=path})`;

const moveFile = defineIntent<"from" | "to" | "into">({
  name: "move-file",
  summary: "move or rename a file",
  tools,
  acts: true,
  hints: /\b(move|mv|rename)\b/i,
  phrasings: [
    "move notes.txt to docs/notes.txt",
    "rename old.ts to new.ts",
    "mv a.txt b.txt",
    "move the file data.csv into archive",
    "move the folder drafts to published",
    "move report.md to the docs folder",
  ],
  templates: [`(move|mv|rename) ${FROM} ${TO}`],
  *plan({ from = "", to, into }) {
    const target = toTarget(from, to, into);
    const done = `Moved \`${from}\` to \`${target}\`.`;
    return yield* change("move", { path: from, to: target }, done);
  },
});

const copyFile = defineIntent<"from" | "to" | "into">({
  name: "copy-file",
  summary: "copy a file",
  tools,
  acts: true,
  hints: /\b(copy|cp|duplicate)\b/i,
  phrasings: [
    "copy config.yaml to config.backup.yaml",
    "cp a.txt b.txt",
    "copy the file logo.svg into assets",
    "duplicate template.md as chapter-1.md",
    "make a copy of notes.txt in the archive folder",
  ],
  templates: [
    `(copy|cp|duplicate) ${FROM} ${TO}`,
    `(make|create) a copy of ${FROM} (in ${A_FOLDER} {into=path}|in the {into=path} (folder|directory)|(as|named|called) {to=path})`,
  ],
  *plan({ from = "", to, into }) {
    const target = toTarget(from, to, into);
    const done = `Copied \`${from}\` to \`${target}\`.`;
    return yield* change("copy", { path: from, to: target }, done);
  },
});

const deleteFile = defineIntent<"from">({
  name: "delete-file",
  summary: "delete a file or an empty folder",
  tools,
  acts: true,
  hints: /\b(delete|remove|rm|rmdir|erase|unlink)\b/i,
  phrasings: [
    "delete old.log",
    "remove the file build/out.js",
    "rm notes.txt",
    "erase 'my draft.md'",
    "delete the empty folder tmp",
  ],
  templates: [`(delete|remove|rm|erase|unlink) ${FROM}`, "rmdir {from=path}"],
  *plan({ from = "" }) {
    return yield* change("delete", { path: from }, `Deleted \`${from}\`.`);
  },
});

const makeFolder = defineIntent<"path">({
  name: "make-folder",
  summary: "make a folder",
  tools,
  acts: true,
  hints: /\b(make|create|add|mkdir)\b/i,
  phrasings: [
    "make a folder named archive",
    "create the directory src/generated",
    "mkdir -p build/cache",
    "create a new folder called 'my notes'",
    "mkdir tmp",
  ],
  templates: [
    "(make|create|add) (a|the) [new] (folder|directory|dir) [(named|called)] {path}",
    "mkdir [-p] {path}",
  ],
  *plan({ path = "" }) {
    return yield* change("create_directory", { path }, `Made the folder \`${path}\`.`);
  },
});

const A_TEXT = "[(the (text|line|words?|following)|this|a line)]";

const appendFile = defineIntent<"text" | "block" | "words" | "file">({
  name: "append-file",
  summary: "add a line to the end of a file",
  tools,
  acts: true,
  hints: /\b(append|add)\b/i,
  phrasings: [
    'append "checked" to log.txt',
    "append done at noon to notes.md",
    "add the line 'node_modules' to .gitignore",
    "add 'one more' to the end of list.txt",
    "append to todo.md: water the plants",
  ],
  templates: [
    `append ${A_TEXT} ({text=quoted}|{block}|{words=text}) (to|at) [the end of] [the] [file] {file}`,
    `append to [the] [file] {file} ({text=quoted}|{block}|{words=text})`,
    `add ${A_TEXT} ({text=quoted}|{block}) (to|at) [the end of] [the] [file] {file}`,
  ],
  accept: ({ words }) => words === undefined || isVerbatim(words),
  *plan({ text, block, words, file = "" }) {
    const line = block === undefined ? (text ?? words ?? "") : withoutFence(block);
    const done = `Added ${plural(line.split("\n").length, "line")} to \`${file}\`.`;
    return yield* change("append", { path: file, content: `${line}\n` }, done);
  },
});

const listFolder = defineIntent<"dir">({
  name: "list-folder",
  summary: "list what is directly in a folder",
  tools,
  hints: /\b(entries|top level|directly)\b/i,
  phrasings: [
    "list the entries of src",
    "show me the entries in docs",
    "which entries are in the folder web?",
    "what is directly in test?",
    "list the top level of packages",
  ],
  templates: [
    `${LIST} [(all|the)] (entries|top level) (of|in) {dir}`,
    "(what|which) entries (are|are there) in {dir}",
    "(what|which) entries (does|do) {dir} have",
    "what (is|lies) directly in {dir}",
  ],
  *plan({ dir }) {
    const path = toDirectory(dir);
    const output = yield* callTool("file_ops", { operation: "list", path });
    if (isRefusal(output) || output.trim() === "") return refusal("file_ops", output);
    const isEmpty = output.trim() === "(empty folder)";
    const names = isEmpty ? [] : output.trim().split("\n");
    const data = { entries: names, results: names, count: names.length };
    if (isEmpty) return { text: `There is nothing ${inDirectory(path)}.`, data };
    const count = names.length === 1 ? "1 entry" : `${names.length} entries`;
    return { text: `${count} ${inDirectory(path)}:\n${writePaths(names)}`, data };
  },
});

/** The path of the target. A file that is moved into a folder keeps its name. */
function toTarget(from: string, to = "", into?: string): string {
  const folder = into ?? (to.endsWith("/") ? to : undefined);
  if (folder === undefined) return to;
  const name = from.replace(/\/+$/, "").split("/").at(-1) ?? from;
  return `${folder.replace(/\/+$/, "")}/${name}`;
}

function* change(operation: string, input: JsonObject, done: string): PlanStep<IntentAnswer> {
  const output = yield* callTool("file_ops", { operation, ...input });
  if (isRefusal(output) || output.trim() === "") return refusal("file_ops", output);
  return { text: done, data: { ...input, done: true, result: output } };
}

export const ARRANGING: readonly Intent[] = [
  moveFile,
  copyFile,
  deleteFile,
  makeFolder,
  appendFile,
  listFolder,
];
