/** Steps that several plans share: finding files, reading them, and saying what went wrong. */

import type { JsonObject } from "../../../base/json.ts";
import { clip, plural, withThousands } from "../../../base/text.ts";
import type { Conversation } from "../conversation.ts";
import { isBinaryName } from "../file-kinds.ts";
import {
  type FindResult,
  type Line,
  parseFind,
  parseRead,
  type ReadResult,
} from "../tool-results.ts";
import type { Answer, ToolRequest } from "./intent.ts";

/** Files read at most for one request: enough for a folder, and still one turn of parallel calls. */
const MAX_FILES_READ = 40;
const MAX_SHOWN = 200;

/** A step of a plan: it may ask for calls on the way to its value. */
export type Step<Value> = Generator<readonly ToolRequest[], Value, readonly string[]>;

export interface FileLines {
  readonly path: string;
  readonly lines: readonly Line[];
}

/** One call and what it gave. */
export function* callTool(name: string, input: JsonObject): Step<string> {
  const [output = ""] = yield [{ name, arguments: input }];
  return output;
}

/** Paths below `path` that fit one of the patterns `names`, or all. */
export function* findPaths(
  path: string,
  type: "f" | "d" | "",
  names: readonly string[],
): Step<FindResult> {
  const pattern = names.length > 1 ? `{${names.join(",")}}` : (names[0] ?? "");
  const [output = ""] = yield [findCall(path, type, pattern)];
  return parseFind(output);
}

/**
 * One file's lines. When there is no such file and exactly one of that name elsewhere, that one is
 * read; `path` in the result says which.
 */
export function* readPath(
  path: string,
  window: { readonly offset?: number; readonly limit?: number },
  conversation: Conversation,
): Step<ReadResult & { readonly path: string; readonly tool: string }> {
  const tool = chooseTool(["read", "bash_read"], conversation);
  const read = function* (one: string): Step<ReadResult> {
    const named: JsonObject = tool === "read" ? { path: one } : { filepath: one };
    return parseRead(yield* callTool(tool, { ...named, ...window }));
  };
  const result = { ...(yield* read(path)), path, tool };
  const missing = !result.ok && /not found|no such file/i.test(result.problem);
  if (!missing || !conversation.tools.some(({ name }) => name === "bash_find")) return result;
  const base = path.split("/").at(-1) ?? path;
  const found = yield* findPaths(".", "f", [base]);
  const others = found.ok ? found.paths : [];
  const [only] = others;
  if (only !== undefined && others.length === 1) {
    return { ...(yield* read(only)), path: only, tool };
  }
  if (others.length === 0) return result;
  const near = others.slice(0, 10).map((other) => `\`${other}\``);
  const problem = `${result.problem}. Perhaps you mean ${near.join(", ")}.`;
  return { ok: false, problem, path, tool };
}

export interface ReadFiles {
  readonly files: readonly FileLines[];
  /** What was left out, in words. */
  readonly skipped: string;
}

/** The text files among `paths`, read side by side; a refusal where none of them could be read. */
export function* readAll(paths: readonly string[]): Step<ReadFiles | Answer> {
  const texts = paths.filter((path) => !isBinaryName(path));
  const chosen = texts.slice(0, MAX_FILES_READ);
  const outputs =
    chosen.length > 0 ? yield chosen.map((path) => ({ name: "read", arguments: { path } })) : [];
  const files: FileLines[] = [];
  const unread: string[] = [];
  for (const [index, path] of chosen.entries()) {
    const result = parseRead(outputs[index] ?? "");
    if (result.ok) files.push({ path, lines: result.lines });
    else unread.push(`${path}: ${result.problem}`);
  }
  if (chosen.length > 0 && files.length === 0)
    return refusal("read", unread.slice(0, 10).join("; "));
  const notes = [
    texts.length > chosen.length &&
      `Only the first ${MAX_FILES_READ} of ${texts.length} files were read.`,
    paths.length > texts.length &&
      `${plural(paths.length - texts.length, "file")} of binary kinds left out.`,
    unread.length > 0 && `Not read: ${unread.slice(0, 10).join("; ")}.`,
  ];
  return { files, skipped: notes.filter((note) => note !== false).join(" ") };
}

/** Paths as a list for people, the end of a very long one left out. */
export function writePaths(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_SHOWN).map((path) => `- ${path}`);
  if (paths.length > MAX_SHOWN) shown.push(`- … and ${paths.length - MAX_SHOWN} more`);
  return shown.join("\n");
}

export function writeFenced(lines: readonly Line[]): string {
  return fence(lines.map((line) => line.text).join("\n"));
}

/** With more backticks than the text holds in a row. */
export function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = "`".repeat(longest + 1);
  return `${marks}\n${text}\n${marks}`;
}

/** The file's number of lines, whatever window of it was read. */
export function lastNumber(lines: readonly Line[]): number {
  return lines.at(-1)?.number ?? 0;
}

/**
 * A call that was denied or failed is told as that: nothing was done, and nobody must take it for an empty
 * result, or for an answer.
 */
export function refusal(tool: string, problem: string): Answer {
  const words = problem === "" ? "It gave no output." : toProblem(problem);
  const isDenied = /^tool call \S+ was denied\b/i.test(words);
  const text = isDenied
    ? `${words.replace(/[.\s]*$/, "")}. I have not done it.`
    : `The tool \`${tool}\` gave no result. ${words}`;
  return { text, data: { error: words }, failed: true, declined: true };
}

/** A result that was too large to be read is no reason: it is cut to its beginning. */
const MAX_PROBLEM_CHARS = 1000;

function toProblem(problem: string): string {
  const words = problem.replace(/^Error:\s*/, "");
  if (words.length <= MAX_PROBLEM_CHARS) return words;
  return `Its output is too large to be read (${withThousands(words.length)} characters). Ask about a smaller folder. It begins: ${clip(words, 200)}`;
}

/** Of tools that do the same, the one the user names, or the first that is offered, or the first. */
export function chooseTool(
  names: readonly [string, ...string[]],
  { order = "", tools }: Conversation,
): string {
  const offered = names.filter((name) => tools.some((tool) => tool.name === name));
  const named = offered.find((name) => new RegExp(`\\b${name}\\b`, "i").test(order));
  return named ?? offered[0] ?? names[0];
}

/** "in `src`", or nothing for the workspace itself. */
export function inDirectory(path: string): string {
  return path === "." ? "here" : `in \`${path}\``;
}

export function join(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}

function findCall(path: string, type: "f" | "d" | "", name: string): ToolRequest {
  const named: JsonObject = name === "" ? {} : { name };
  return { name: "bash_find", arguments: { path, ...named, type_filter: type, limit: 0 } };
}
