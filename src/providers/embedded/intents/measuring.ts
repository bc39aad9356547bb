/** Intents that count lines. They need `read`, and `bash_find` or `bash_ripgrep` for whole directories. */

import { plural } from "../../../base/text.ts";
import { findKind } from "../file-kinds.ts";
import { isFilePath, toDirectory } from "../slots.ts";
import { numberIn, parseResult } from "../tool-results.ts";
import { MAYBE_IN_DIR } from "../wording.ts";
import {
  callTool,
  type FileLines,
  findPaths,
  inDirectory,
  join,
  lastNumber,
  type PlanStep,
  type ReadFiles,
  readAll,
  readPath,
  refusal,
} from "./file-steps.ts";
import { defineIntent, type Intent, type IntentAnswer } from "./intent.ts";

const tools = ["read", "bash_find"];
const FILES = "(files?|modules?|scripts?)";

const countLines = defineIntent<"file">({
  name: "count-lines",
  summary: "count the lines of a file",
  tools: ["read"],
  phrasings: [
    "how many lines has package.json?",
    "how many lines does src/index.ts have",
    "count the lines of README.md",
    "wc -l notes.txt",
    "how long is CHANGELOG.md?",
    "what is the number of lines in `data.csv`?",
  ],
  templates: [
    "how many lines (has|have|are in|are there in|in) [the] [file] {file} [got]",
    "how many lines [of (code|text)] (does|do) [the] [file] {file} (have|contain|hold)",
    "how many lines [of (code|text)] (are|are there) in [the] [file] {file}",
    "(count|count up) [all] [the] lines (of|in) [the] [file] {file}",
    "wc [-l] {file}",
    "how long is [the] [file] {file}",
    "[(what is|what's|tell me)] the (number of lines|line count|length) (of|in) [the] [file] {file}",
  ],
  // `src/base` has a slash like a file's path, but is more likely a directory.
  accept: ({ file = "" }) => isFilePath(file) || !file.includes("/"),
  *plan({ file = "" }, conversation) {
    const result = yield* readPath(file, {}, conversation);
    if (!result.ok) return refusal(result.tool, result.problem);
    const count = lastNumber(result.lines);
    const data = { path: result.path, file: result.path, lines: count, count, result: count };
    return { text: `\`${result.path}\` has ${plural(count, "line")}.`, data };
  },
});

const LINES = "lines [of (code|text)]";

const countLinesAll = defineIntent<"dir">({
  name: "count-lines-all",
  summary: "count the lines of a directory",
  tools: ["bash_ripgrep"],
  hints: /\blines\b/i,
  phrasings: [
    "how many lines are there in src?",
    "count the lines of src",
    "count the lines of the files in test",
    "how many lines of code does src contain?",
    "how many lines do the files in docs have?",
    "count all the lines of code under tools",
  ],
  templates: [
    `how many ${LINES} (are|are there) [in total] (in|under) [the files (in|under)] {dir}`,
    `how many ${LINES} (does|do|has|have) [the files (in|under)] {dir} [(have|contain|hold)] [in total]`,
    `count [all] [the] ${LINES} (of|in|under) [the files (in|under)] {dir}`,
  ],
  // Requests that name a kind or a file, or ask for a count for each file, belong to the other intents.
  accept: ({ dir = "" }) => !/^(each|every|all)\b/i.test(dir) && !isFilePath(dir),
  *plan({ dir }, conversation) {
    const path = toDirectory(dir);
    const isOffered = conversation.tools.some(({ name }) => name === "bash_ripgrep");
    if (!isOffered) return yield* countByReading(path);
    // The start of a line matches once in each line, and only the count is requested.
    const output = yield* callTool("bash_ripgrep", { pattern: "^", files: path, limit: 1 });
    const page = parseResult(output);
    const count = page && numberIn(page, "total");
    if (count === undefined) return refusal("bash_ripgrep", output);
    return toLineCount(path, count);
  },
});

function* countByReading(path: string): PlanStep<IntentAnswer> {
  const counted = yield* countEach(path, undefined);
  if (!("files" in counted)) return counted;
  const count = counted.files.reduce((sum, file) => sum + lastNumber(file.lines), 0);
  const { text, data = {} } = toLineCount(path, count);
  return { text: join([text, counted.skipped]), data };
}

function toLineCount(path: string, count: number): IntentAnswer {
  const text = `The text files ${inDirectory(path)} have ${plural(count, "line")}.`;
  return { text, data: { path, lines: count, count, total: count, result: count } };
}

const countLinesEach = defineIntent<"kind" | "dir">({
  name: "count-lines-each",
  summary: "count the lines of each file in a directory",
  tools,
  phrasings: [
    "how many lines has each file in src?",
    "count the lines of every file in test",
    "how many lines do the TypeScript files in src have?",
    "line counts of all files here",
    "show me the number of lines for each Python file in tools",
    "how long is each file in docs?",
  ],
  templates: [
    `how many lines (has|have|does|do|are in) [(each|every|all)] [of] [the] [{kind}] ${FILES} ${MAYBE_IN_DIR} [(have|contain)]`,
    `(count|show me|list|give me) [the] (lines|line counts?|number of lines) (of|in|for) (each|every|all|all the|all of the|the) [{kind}] ${FILES} ${MAYBE_IN_DIR}`,
    `[the] (line counts?|number of lines) (of|in|for|per) [(each|every|all|all the)] [{kind}] ${FILES} ${MAYBE_IN_DIR}`,
    `how long (is|are) (each|every|all|all the|the) [{kind}] ${FILES} ${MAYBE_IN_DIR}`,
  ],
  *plan({ kind, dir }) {
    const path = toDirectory(dir);
    const counted = yield* countEach(path, kind);
    if (!("files" in counted)) return counted;
    const { files, skipped } = counted;
    const rows = files.map((file) => [file.path, lastNumber(file.lines)] as const);
    const total = rows.reduce((sum, [, count]) => sum + count, 0);
    const title = `${plural(rows.length, "file")} ${inDirectory(path)}, ${plural(total, "line")} in all:`;
    const objects = rows.map(([name, count]) => ({
      path: name,
      file: name,
      name,
      lines: count,
      count,
    }));
    return {
      text: join([title, writeTable([...rows, ["total", total]]), skipped]),
      data: { files: objects, total },
    };
  },
});

const longestFile = defineIntent<"kind" | "dir">({
  name: "longest-file",
  summary: "find the longest file of a directory",
  tools,
  phrasings: [
    "which file in src is the longest?",
    "what is the longest file in test",
    "find the longest TypeScript file here",
    "which file has the most lines in src?",
    "what's the biggest Python file under tools?",
  ],
  templates: [
    `(what|which) [{kind}] file ${MAYBE_IN_DIR} (is|has) [the] (longest|most lines|biggest|largest)`,
    `(what|which) [{kind}] file (is|has) [the] (longest|most lines|biggest|largest) ${MAYBE_IN_DIR}`,
    `(what is|what's|find|show me|tell me) the (longest|biggest|largest) [{kind}] file ${MAYBE_IN_DIR}`,
  ],
  *plan({ kind, dir }) {
    const path = toDirectory(dir);
    const counted = yield* countEach(path, kind);
    if (!("files" in counted)) return counted;
    const rows = counted.files
      .map((file) => [file.path, lastNumber(file.lines)] as const)
      .sort(([, a], [, b]) => b - a);
    const [longest] = rows;
    if (!longest) return { text: `No files to measure ${inDirectory(path)}.`, data: { count: 0 } };
    const [name, count] = longest;
    const text = `The longest file ${inDirectory(path)} is \`${name}\` with ${plural(count, "line")}.`;
    return { text: join([text, counted.skipped]), data: { path: name, file: name, lines: count } };
  },
});

const compareFiles = defineIntent<"file" | "other">({
  name: "compare-files",
  summary: "compare two files line by line",
  tools: ["read"],
  phrasings: [
    "compare a.txt and b.txt",
    "diff old.json new.json",
    "which is longer, README.md or CHANGELOG.md?",
    "are a.ts and b.ts the same?",
    "is src/a.ts longer than src/b.ts?",
    "what is the difference between one.csv and two.csv?",
  ],
  templates: [
    "(compare|diff) [the] [files] {file} (and|with|to|against) {other=file}",
    "diff {file} {other=file}",
    "(which|what) [file] (is|has) (longer|shorter|more lines|bigger|larger) {file} or {other=file}",
    "(are|is) [the] [files] {file} and {other=file} (the same|equal|identical|different)",
    "is {file} (the same as|equal to|identical to|different from|longer than|shorter than|larger than|bigger than) {other=file}",
    "(what is|what's|what are|show [me]) the differences? between {file} and {other=file}",
  ],
  *plan({ file = "", other = "" }, conversation) {
    const first = yield* readPath(file, {}, conversation);
    if (!first.ok) return refusal(first.tool, first.problem);
    const second = yield* readPath(other, {}, conversation);
    if (!second.ok) return refusal(second.tool, second.problem);
    return compare(first, second);
  },
});

function* countEach(path: string, kind: string | undefined): PlanStep<IntentAnswer | ReadFiles> {
  const extensions = kind === undefined ? [] : findKind(kind).extensions;
  const found = yield* findPaths(
    path,
    "f",
    extensions.map((extension) => `*.${extension}`),
  );
  if (!found.ok) return refusal("bash_find", found.problem);
  return yield* readAll(found.paths);
}

function writeTable(rows: readonly (readonly [string, number])[]): string {
  const body = rows.map(([name, count]) => `| ${name} | ${count} |`);
  return ["| file | lines |", "|---|---:|", ...body].join("\n");
}

function compare(first: FileLines, second: FileLines): IntentAnswer {
  const a = lastNumber(first.lines);
  const b = lastNumber(second.lines);
  const others = new Set(second.lines.map((line) => line.text));
  const own = new Set(first.lines.map((line) => line.text));
  const onlyFirst = first.lines.filter((line) => !others.has(line.text)).length;
  const onlySecond = second.lines.filter((line) => !own.has(line.text)).length;
  const same =
    a === b && first.lines.every((line, index) => line.text === second.lines[index]?.text);
  const order = a === b ? "as many lines as" : a > b ? "more lines than" : "fewer lines than";
  const lengths = `\`${first.path}\` has ${order} \`${second.path}\` (${a} and ${b}).`;
  const difference = same
    ? "They are the same, line by line."
    : `${plural(onlyFirst, "line")} of the first ${onlyFirst === 1 ? "is" : "are"} not in the second, ${onlySecond} the other way round.`;
  return { text: `${lengths} ${difference}`, data: { same, lines: [a, b] } };
}

export const MEASURING: readonly Intent[] = [
  countLines,
  countLinesAll,
  countLinesEach,
  longestFile,
  compareFiles,
];
