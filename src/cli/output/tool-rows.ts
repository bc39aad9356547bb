/**
 * Shows tool calls to people: the call, the change that it would make as a diff, and the shortened result. The texts
 * come from models and files: each piece is cleaned here, and stays in its row.
 */

import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { clip, cutToChars, plural } from "../../base/text.ts";
import { toCallText } from "../../delegation/ledger/run-figures.ts";
import type { ToolEnd, ToolStart } from "../../protocol/run-events.ts";
import { toUnifiedDiff } from "../../tools/files/unified-diff.ts";
import { toDiffRow } from "../screen/markdown/highlight.ts";
import { PEN, plainRow, type Row } from "../screen/rows.ts";
import { cleanForTerminal } from "../terminal.ts";

/** The change of one file by a call. */
export interface ShownFileChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** True if both are the complete file, and not the part that a call replaces. */
  readonly isWhole: boolean;
}

/** The most lines of a result, and of a diff, if not all are wanted. */
const RESULT_LINES = 4;
const DIFF_LINES = 40;
/** The most characters of one line: a page of minified code has lines of megabytes. */
const LINE_CHARS = 400;

/** For example `read src/a.ts` */
export function toCallRow(call: Pick<ToolStart, "name" | "arguments">): Row {
  const [name = "", ...rest] = cleanLine(toCallText(call)).split(" ");
  return [
    { text: name, pen: PEN.bold },
    { text: rest.length > 0 ? ` ${rest.join(" ")}` : "", pen: "" },
  ];
}

/**
 * The change that a call would make; undefined for a tool that changes no files. `before` is the present content of
 * the file.
 */
export function toFileChange(
  { name, arguments: text }: Pick<ToolStart, "name" | "arguments">,
  before?: string,
): ShownFileChange | undefined {
  const given = tryParseJson(text);
  if (!isJsonObject(given)) return undefined;
  const { path } = given;
  if (typeof path !== "string") return undefined;
  const part = name === "edit" ? toPart(given, "string") : undefined;
  if (part) return toReplaced(path, part, before);
  if (name === "file_ops" && given["operation"] === "edit") {
    const replaced = toPart(given, "text");
    return replaced && toReplaced(path, replaced, before);
  }
  const content = given["content"];
  if (!WRITING.has(name) || typeof content !== "string") return undefined;
  const after = given["operation"] === "append" ? `${before ?? ""}${content}` : content;
  return { path, before: before ?? "", after, isWhole: true };
}

const WRITING: ReadonlySet<string> = new Set(["write", "file_ops"]);

interface Replaced {
  readonly old: string;
  readonly put: string;
}

function toPart(given: JsonObject, kind: "string" | "text"): Replaced | undefined {
  const old = given[`old_${kind}`];
  const put = given[`new_${kind}`];
  return typeof old === "string" && typeof put === "string" ? { old, put } : undefined;
}

/**
 * If the old text occurs in the file exactly once, lines around it are shown; else only the change.
 */
function toReplaced(
  path: string,
  { old, put }: Replaced,
  before: string | undefined,
): ShownFileChange {
  const at = before === undefined ? -1 : before.indexOf(old);
  if (before === undefined || at < 0) return { path, before: old, after: put, isWhole: false };
  const after = before.slice(0, at) + put + before.slice(at + old.length);
  return { path, before, after, isWhole: true };
}

export function toDiffRows(change: ShownFileChange, maxLines = DIFF_LINES): Row[] {
  const { path, before, after, isWhole } = change;
  const lines = toUnifiedDiff(cleanLine(path), ended(before), ended(after)).split("\n");
  // The line numbers of a part are not those of its file, so they are not shown.
  const shown = lines.slice(1).filter((line) => isWhole || !line.startsWith("@@"));
  const rows = shown.map((line) => {
    const clean = cleanLine(line);
    return clean.startsWith("+++")
      ? plainRow(clean.slice(4).replace(/^b\//, ""), PEN.bold)
      : toDiffRow(clean);
  });
  return shorten(rows, maxLines);
}

/** A last line without a line end is shown as a line too. */
function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** The result of a call; complete with `isWhole`. */
export function toResultRows({ name, item, failed }: ToolEnd, isWhole = false): Row[] {
  if (item.type !== "function_call_output") return [];
  const output = typeof item.output === "string" ? item.output : JSON.stringify(item.output);
  const pen = failed ? PEN.bad : PEN.dim;
  const text = toShownResult(output).trimEnd();
  if (text === "") return [plainRow("(no output)", PEN.dim)];
  const isQuiet = !isWhole && !failed && READING.has(name);
  const lines = text.split("\n");
  if (isQuiet) return [plainRow(`${plural(lines.length, "line")}`, PEN.dim)];
  return shorten(
    lines.map((line) => plainRow(cleanLine(line), pen)),
    isWhole ? Number.POSITIVE_INFINITY : RESULT_LINES,
  );
}

/** Tools whose output is for the model only: a person has the file. */
const READING: ReadonlySet<string> = new Set(["read", "bash_read"]);

/**
 * The words of a JSON result: what a command printed, why something failed, or its fields on one line.
 */
function toShownResult(output: string): string {
  const parsed = tryParseJson(output);
  if (!isJsonObject(parsed)) return output;
  const { stdout, stderr, exit_code: exitCode, error, content } = parsed;
  if (typeof stdout === "string") {
    const code = typeof exitCode === "number" && exitCode !== 0 ? `exit code ${exitCode}` : "";
    return [stdout.trimEnd(), typeof stderr === "string" ? stderr.trimEnd() : "", code]
      .filter((part) => part !== "")
      .join("\n");
  }
  if (typeof error === "string" && error !== "") return error;
  if (typeof content === "string") return content;
  const fields = Object.entries(parsed).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return fields.map(([field, value]) => `${field}: ${toValue(value)}`).join(" · ");
}

function toValue(value: unknown): string {
  if (Array.isArray(value)) return plural(value.length, "entry").replace("entrys", "entries");
  return clip(typeof value === "string" ? value : JSON.stringify(value), 120);
}

function shorten(rows: readonly Row[], most: number): Row[] {
  if (rows.length <= most + 1) return [...rows];
  const left = rows.length - most;
  return [...rows.slice(0, most), plainRow(`… ${plural(left, "more line")}`, PEN.dim)];
}

function cleanLine(text: string): string {
  const line = cleanForTerminal(text).replaceAll("\t", "    ").replaceAll("\n", " ");
  return line.length <= LINE_CHARS ? line : `${cutToChars(line, LINE_CHARS - 1)}…`;
}
