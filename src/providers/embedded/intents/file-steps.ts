/** Steps that several plans share: finding files, reading them, and describing failures. */

import type { JsonObject } from "../../../base/json.ts";
import { clip, plural, withThousands } from "../../../base/text.ts";
import type { EmbeddedConversation } from "../conversation.ts";
import { isBinaryName } from "../file-kinds.ts";
import {
  type FindResult,
  type NumberedLine,
  parseFind,
  parseRead,
  type ReadResult,
} from "../tool-results.ts";
import type { IntentAnswer, ToolRequest } from "./intent.ts";

/** The most files that one request reads: enough for a folder, and still one turn of parallel calls. */
const MAX_FILES_READ = 40;
const MAX_SHOWN = 200;

/** A step of a plan. It may yield tool calls before it returns its value. */
export type PlanStep<Value> = Generator<readonly ToolRequest[], Value, readonly string[]>;

export interface FileLines {
  readonly path: string;
  readonly lines: readonly NumberedLine[];
}

/** Makes one call and returns its result. */
export function* callTool(name: string, input: JsonObject): PlanStep<string> {
  const [output = ""] = yield [{ name, arguments: input }];
  return output;
}

/** Paths below `path` that match one of the patterns `names`, or all. */
export function* findPaths(
  path: string,
  type: "f" | "d" | "",
  names: readonly string[],
): PlanStep<FindResult> {
  const pattern = names.length > 1 ? `{${names.join(",")}}` : (names[0] ?? "");
  const [output = ""] = yield [findCall(path, type, pattern)];
  return parseFind(output);
}

/**
 * Reads the lines of one file. If there is no such file and exactly one of that name elsewhere, that one is
 * read; `path` in the result says which.
 */
export function* readPath(
  path: string,
  window: { readonly offset?: number; readonly limit?: number },
  conversation: EmbeddedConversation,
): PlanStep<ReadResult & { readonly path: string; readonly tool: string }> {
  const tool = chooseTool(["read", "bash_read"], conversation);
  const read = function* (one: string): PlanStep<ReadResult> {
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
  /** A text that says which files were left out. */
  readonly skipped: string;
}

/** Reads the text files among `paths` in parallel. Returns a refusal if none of them could be read. */
export function* readAll(paths: readonly string[]): PlanStep<ReadFiles | IntentAnswer> {
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

/** Writes paths as a list for people. A very long list is shortened. */
export function writePaths(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_SHOWN).map((path) => `- ${path}`);
  if (paths.length > MAX_SHOWN) shown.push(`- … and ${paths.length - MAX_SHOWN} more`);
  return shown.join("\n");
}

export function writeFenced(lines: readonly NumberedLine[]): string {
  return fence(lines.map((line) => line.text).join("\n"));
}

/** A fence with more backticks than the text has in a row. */
export function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = "`".repeat(longest + 1);
  return `${marks}\n${text}\n${marks}`;
}

/** The number of lines of the file, whichever part of it was read. */
export function lastNumber(lines: readonly NumberedLine[]): number {
  return lines.at(-1)?.number ?? 0;
}

/**
 * Reports a call that was denied or failed as a refusal: nothing was done, so the text must not look like
 * an empty result or an answer.
 */
export function refusal(tool: string, problem: string): IntentAnswer {
  const words = problem === "" ? "It gave no output." : toProblem(problem);
  const isDenied = /^tool call \S+ was denied\b/i.test(words);
  const text = isDenied
    ? `${words.replace(/[.\s]*$/, "")}. I have not done it.`
    : `The tool \`${tool}\` gave no result. ${words}`;
  return { text, data: { error: words }, failed: true, declined: true };
}

/**
 * The most characters of a failed result that are shown. A result that was too large to be read gives no
 * reason.
 */
const MAX_PROBLEM_CHARS = 1000;

function toProblem(problem: string): string {
  const words = problem.replace(/^Error:\s*/, "");
  if (words.length <= MAX_PROBLEM_CHARS) return words;
  return `Its output is too large to be read (${withThousands(words.length)} characters). Ask about a smaller folder. It begins: ${clip(words, 200)}`;
}

/**
 * Chooses among tools that do the same: the one that the user names, or the first that is offered, or the
 * first.
 */
export function chooseTool(
  names: readonly [string, ...string[]],
  { order = "", tools }: EmbeddedConversation,
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
