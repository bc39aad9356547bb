/** Shows tool calls as editors do: a title, a kind, the files that they touch, the changes. */

import { resolve } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { ToolStart } from "../../protocol/run-events.ts";
import { toFileChange } from "../output/tool-rows.ts";

const KINDS: readonly (readonly [RegExp, ToolKind])[] = [
  [/^(read|bash_read|list_files|ls)/, "read"],
  [/^(write|edit|patch|apply_patch|multi_edit)/, "edit"],
  [/(find|grep|ripgrep|search|glob)/, "search"],
  [/^(shell|bash|python|terminal)/, "execute"],
  [/(fetch|scrape|web)/, "fetch"],
  [/(subagent|agent)/, "think"],
];

/** The argument of `file_ops` that says what it does. */
const OPERATIONS: Readonly<Record<string, ToolKind>> = {
  read: "read",
  list: "read",
  write: "edit",
  append: "edit",
  edit: "edit",
  delete: "delete",
  remove: "delete",
  move: "move",
  copy: "move",
};

export function toToolKind(name: string, given = ""): ToolKind {
  if (name === "file_ops") return OPERATIONS[String(fieldsOf(given)["operation"])] ?? "edit";
  return KINDS.find(([names]) => names.test(name))?.[1] ?? "other";
}

/** The argument that says most about a call: the first of these that exists. */
const TELLING = ["path", "filepath", "command", "label", "pattern", "query", "url"];

export function toTitle(name: string, given: string): string {
  const fields = fieldsOf(given);
  const telling = TELLING.find((field) => typeof fields[field] === "string");
  const shown = telling === undefined ? "" : ` ${String(fields[telling]).replace(/\s+/g, " ")}`;
  return clip(`${name}${shown}`, 120);
}

/** Editors expect absolute paths, and lines that count from 1. */
export function toLocations(given: string, cwd: string): ToolCallLocation[] {
  const { path, filepath, offset } = fieldsOf(given);
  const named = typeof path === "string" ? path : filepath;
  if (typeof named !== "string") return [];
  const line = typeof offset === "number" && offset > 0 ? { line: Math.floor(offset) + 1 } : {};
  return [{ path: resolve(cwd, named), ...line }];
}

/** Reads a file by its path in the folder; undefined if it cannot be shown. */
export type ReadFile = (path: string) => Promise<string | undefined>;

/** The change that a call would make, if its arguments say it. */
export async function toChange(
  call: Pick<ToolStart, "name" | "arguments">,
  cwd: string,
  readFile: ReadFile,
): Promise<ToolCallContent[]> {
  if (!toFileChange(call)) return [];
  const { path: named } = fieldsOf(call.arguments);
  return toDiff(call, cwd, typeof named === "string" ? await readFile(named) : undefined);
}

/** The same for a file with this content; undefined if the content is not known. */
export function toDiff(
  call: Pick<ToolStart, "name" | "arguments">,
  cwd: string,
  before: string | undefined,
): ToolCallContent[] {
  const change = toFileChange(call, before);
  if (!change) return [];
  const oldText = before === undefined && change.isWhole ? null : change.before;
  return [{ type: "diff", path: resolve(cwd, change.path), oldText, newText: change.after }];
}

function fieldsOf(given: string): JsonObject {
  const fields = tryParseJson(given);
  return isJsonObject(fields) ? fields : {};
}
