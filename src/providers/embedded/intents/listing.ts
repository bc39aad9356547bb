/** Intents that list files. They need only `bash_find`. */

import { plural } from "../../../base/text.ts";
import { findKind } from "../file-kinds.ts";
import { isFilePath, toDirectory } from "../slots.ts";
import { LIST, MAYBE_IN_DIR } from "../wording.ts";
import { findPaths, inDirectory, type PlanStep, refusal, writePaths } from "./file-steps.ts";
import { defineIntent, type Intent, type IntentAnswer } from "./intent.ts";

const tools = ["bash_find"];
const FILES = "(files?|modules?|scripts?|sources|documents?)";
const ARE_THERE = "(are there|are|exist|do we have|do i have|do you see|can you see|can you find)";

const listKind = defineIntent<"kind" | "dir">({
  name: "list-kind",
  summary: "list the files of a kind",
  tools,
  phrasings: [
    "list the TypeScript files here",
    "show me all Python files in src",
    "which Markdown files are there in docs?",
    "find all *.json files under config",
    "Could you please list every YAML file in the current directory?",
    "what JavaScript files do we have",
    "list the files ending in .css in `web/styles`",
    "list *.rs",
  ],
  templates: [
    `${LIST} [(all|every|each)] [of] [the] {kind} [source] [code] ${FILES} ${MAYBE_IN_DIR}`,
    `(find|get|get me|find me|search for|look for|locate) [(all|every|each)] [of] [the] {kind} [source] ${FILES} ${MAYBE_IN_DIR}`,
    `(what|which) {kind} [source] ${FILES} ${ARE_THERE} [there] ${MAYBE_IN_DIR}`,
    `(where are|are there [any]) [(all|the)] {kind} [source] ${FILES} ${MAYBE_IN_DIR}`,
    `(what|which) are the {kind} ${FILES} ${MAYBE_IN_DIR}`,
    `${LIST} [(all|every)] [the] files (with [the] extension|with [the] ending|ending in|ending with|of type|of kind) {kind} ${MAYBE_IN_DIR}`,
    `(${LIST}|find) [all] {kind=glob} ${MAYBE_IN_DIR}`,
    `[(all|the)] {kind} ${FILES} (here|in {dir})`,
  ],
  *plan({ kind = "", dir }) {
    const { label, extensions } = findKind(kind);
    return yield* answerPaths(toDirectory(dir), `${label} file`, extensions);
  },
});

const listFiles = defineIntent<"dir">({
  name: "list-files",
  summary: "list all files in a directory",
  tools,
  phrasings: [
    "list the files in src",
    "ls",
    "what files are here?",
    "show me all files in the test directory",
    "which files does docs contain?",
    "list everything under `src/base`",
    "what is in src/base/?",
    "list files",
  ],
  templates: [
    `${LIST} [(all|every|each)] [of] [the] (files?|everything|contents) ${MAYBE_IN_DIR}`,
    `${LIST} [(all|every|each)] [of] [the] (files|contents) of {dir}`,
    `(what|which) files ${ARE_THERE} [there] ${MAYBE_IN_DIR}`,
    "(what|which) files (does|do) {dir} (have|contain|hold|include)",
    `(what|which) are the files ${MAYBE_IN_DIR}`,
    "(what's|what is) (in|inside) {dir}",
    "(ls|dir|tree|list) {dir}",
    "(ls|dir|tree)",
  ],
  // "show package.json" asks for the text, "list them" for something else.
  accept: ({ dir }) => dir === undefined || (!isFilePath(dir) && isPathLike(dir)),
  *plan({ dir }) {
    return yield* answerPaths(toDirectory(dir), "file", []);
  },
});

const listDirectories = defineIntent<"dir">({
  name: "list-directories",
  summary: "list the directories",
  tools,
  phrasings: [
    "list the directories in src",
    "which folders are there?",
    "show me all subdirectories of packages",
    "what directories do we have here?",
    "list folders",
    "give me the subfolders in test please",
  ],
  templates: [
    `${LIST} [(all|every|each)] [of] [the] (directories|folders|subdirectories|subfolders|dirs) ${MAYBE_IN_DIR}`,
    `${LIST} [(all|every|each)] [of] [the] (directories|folders|subdirectories|subfolders|dirs) of {dir}`,
    `(what|which) (directories|folders|subdirectories|subfolders) ${ARE_THERE} [there] ${MAYBE_IN_DIR}`,
    `(find|get) [all] [the] (directories|folders|subdirectories|subfolders) ${MAYBE_IN_DIR}`,
  ],
  *plan({ dir }) {
    const path = toDirectory(dir);
    const found = yield* findPaths(path, "d", []);
    if (!found.ok) return refusal("bash_find", found.problem);
    const paths = found.paths.filter((entry) => isBelow(entry, path));
    const count = paths.length === 1 ? "1 directory" : `${paths.length} directories`;
    const text =
      paths.length === 0
        ? `No directories ${inDirectory(path)}.`
        : `${count} ${inDirectory(path)}:\n${writePaths(paths)}`;
    return { text, data: { directories: paths, results: paths, count: paths.length } };
  },
});

const findFile = defineIntent<"name" | "file" | "dir">({
  name: "find-file",
  summary: "find a file by its name",
  tools,
  phrasings: [
    "find the file named config",
    "where is package.json?",
    "locate tsconfig.json",
    "find files called *.test.ts in test",
    "is there a file named Dockerfile?",
    "search for README.md",
    "find loop.ts in src",
  ],
  templates: [
    `(find|locate|search for|look for|where is|where are|get) [(the|a|all|any)] (files?|a file) [(named|called|with [the] name)] {name} ${MAYBE_IN_DIR}`,
    `(find|locate|search for|look for|where is|where's|where can i find) [the] [file] {file} ${MAYBE_IN_DIR}`,
    `(is there|do we have|do you see) (a|any) files? (named|called) {name} ${MAYBE_IN_DIR}`,
    `(which|what) (directory|folder) (has|contains|holds) {file}`,
    `where (is|are) [the] files? {file} [located]`,
  ],
  // Quoted words without an extension are more likely a text to search for in files.
  accept: ({ file = "/" }) => file.includes("/") || isFilePath(file),
  *plan({ name, file, dir }) {
    const parts = (name ?? file ?? "").split("/");
    const base = parts.pop() ?? "";
    const path = parts.length > 0 && dir === undefined ? parts.join("/") : toDirectory(dir);
    const found = yield* findPaths(path, "f", [base]);
    if (!found.ok) return refusal("bash_find", found.problem);
    const { paths } = found;
    const data = { files: paths, results: paths, path: paths[0] ?? null, count: paths.length };
    if (paths.length === 0)
      return { text: `No file named \`${base}\` ${inDirectory(path)}.`, data };
    return {
      text: `${plural(paths.length, "file")} named \`${base}\`:\n${writePaths(paths)}`,
      data,
    };
  },
});

const countFiles = defineIntent<"kind" | "what" | "dir">({
  name: "count-files",
  summary: "count files or directories",
  tools,
  phrasings: [
    "how many files are in src?",
    "count the TypeScript files",
    "how many Python files are there in tools?",
    "what is the number of JSON files here?",
    "how many files does test contain?",
    "how many folders do we have?",
    "count all files in docs please",
  ],
  templates: [
    `how many [{kind}] {what=entries} ${ARE_THERE} [there] ${MAYBE_IN_DIR}`,
    `how many [{kind}] {what=entries} (in|under|inside) {dir}`,
    "how many [{kind}] {what=entries} (does|do) {dir} (have|contain|hold|include)",
    `(count|count up) [all] [of] [the] [{kind}] {what=entries} ${MAYBE_IN_DIR}`,
    `[(what is|what's|give me|tell me)] the (number|count) of [{kind}] {what=entries} ${MAYBE_IN_DIR}`,
    `number of [{kind}] {what=entries} ${MAYBE_IN_DIR}`,
  ],
  *plan({ kind, what = "files", dir }) {
    const path = toDirectory(dir);
    const isFiles = /^file/i.test(what);
    const { label, extensions } =
      kind === undefined ? { label: "", extensions: [] } : findKind(kind);
    const found = yield* findPaths(
      path,
      isFiles ? "f" : "d",
      extensions.map((extension) => `*.${extension}`),
    );
    if (!found.ok) return refusal("bash_find", found.problem);
    const count = found.total;
    const one = isFiles ? "file" : "directory";
    const many = isFiles ? "files" : "directories";
    const noun = `${label} ${count === 1 ? one : many}`.trim();
    const verb = count === 1 ? "is" : "are";
    return {
      text: `There ${verb} ${count} ${noun} ${inDirectory(path)}.`,
      data: { count, number: count, total: count, result: count },
    };
  },
});

function* answerPaths(
  path: string,
  noun: string,
  extensions: readonly string[],
): PlanStep<IntentAnswer> {
  const found = yield* findPaths(
    path,
    "f",
    extensions.map((extension) => `*.${extension}`),
  );
  if (!found.ok) return refusal("bash_find", found.problem);
  const { paths } = found;
  const data = { files: paths, paths, results: paths, count: paths.length, total: paths.length };
  if (paths.length === 0) return { text: `No ${noun}s ${inDirectory(path)}.`, data };
  return {
    text: `${plural(paths.length, noun)} ${inDirectory(path)}:\n${writePaths(paths)}`,
    data,
  };
}

/**
 * True if the entry is below the folder: a listing of folders may name the folder itself and those above
 * it.
 */
function isBelow(entry: string, path: string): boolean {
  const isElsewhere = path === "." || path.startsWith("..") || path.startsWith("/");
  return isElsewhere || entry.startsWith(`${path.replace(/^\.\//, "")}/`);
}

/** True for a word that people type for a directory only: quoted, with a slash, or all lower case. */
function isPathLike(dir: string): boolean {
  return (
    /^[\w./@~+-]+$/.test(toDirectory(dir)) &&
    !/^(them|it|that|this|those|these|all|more|yourself)$/i.test(dir)
  );
}

export const LISTING: readonly Intent[] = [
  listKind,
  countFiles,
  listDirectories,
  listFiles,
  findFile,
];
