/**
 * Diffs without line numbers, as models write them for `apply_patch`: places are found by the lines around
 * them. Lines that differ only in white space still match, because models lose it; kept lines are always
 * the file's own.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";

/** One place of a diff. */
interface Hunk {
  /** Lines above the place, each below the one before: a class, then its method. */
  readonly anchors: string[];
  readonly lines: Line[];
  /** True if the place is the file's end. */
  isAtEnd: boolean;
}

interface Line {
  readonly kind: "keep" | "remove" | "add";
  readonly text: string;
}

const END_OF_FILE = "*** End of File";

/** The content of a file that is created by a diff of added lines. */
export function toNewText(diff: string): string {
  const lines = toLines(diff).filter((line) => line !== END_OF_FILE);
  const added = lines.filter((line) => line.startsWith("+"));
  if (lines.length === 0) return "";
  // A model that forgot the form has written the file itself.
  if (added.length === 0) return `${lines.join("\n")}\n`;
  if (added.length < lines.length) {
    const wrong = lines.find((line) => !line.startsWith("+")) ?? "";
    throw misfit(`A new file's lines all begin with +, but not \`${clip(wrong, 80)}\`.`);
  }
  return `${added.map((line) => line.slice(1)).join("\n")}\n`;
}

/** Throws `invalid_request` with the first line that does not match. */
export function patchText(before: string, diff: string): string {
  const ending = before.includes("\r\n") ? "\r\n" : "\n";
  const lines = before.split(/\r?\n/);
  const hasFinal = lines.at(-1) === "";
  if (hasFinal) lines.pop();
  const hunks = parseHunks(diff);
  if (hunks.length === 0) throw misfit("The diff changes nothing.");
  const after: string[] = [];
  let next = 0;
  for (const hunk of hunks) {
    const place = findPlace(lines, hunk, next);
    after.push(...lines.slice(next, place.from), ...toReplacement(hunk, lines, place.from));
    next = place.to;
  }
  after.push(...lines.slice(next));
  const isClosed = hasFinal || before === "";
  return after.length === 0 ? "" : after.join(ending) + (isClosed ? ending : "");
}

function toLines(diff: string): string[] {
  const lines = diff.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function parseHunks(diff: string): Hunk[] {
  const hunks: Hunk[] = [];
  for (const line of toLines(diff)) {
    const last = hunks.at(-1);
    // Several adjacent lines with @@ name one place, each more precisely.
    const isNext = line.startsWith("@@") && last !== undefined && last.lines.length > 0;
    const hunk = isNext ? createHunk() : (last ?? createHunk());
    if (hunk !== last) hunks.push(hunk);
    if (line.startsWith("@@")) hunk.anchors.push(...toAnchors(line));
    else if (line === END_OF_FILE) hunk.isAtEnd = true;
    else hunk.lines.push(parseLine(line));
  }
  return hunks.filter(({ lines }) => lines.some(({ kind }) => kind !== "keep"));
}

function createHunk(): Hunk {
  return { anchors: [], lines: [], isAtEnd: false };
}

/** Line numbers, which models make up, are ignored. */
function toAnchors(line: string): string[] {
  const text = line.slice(2).trim();
  const anchor = text.replace(/^-\d+(,\d+)? \+\d+(,\d+)? @@ ?/, "").trim();
  return anchor === "" ? [] : [anchor];
}

function parseLine(line: string): Line {
  const text = line.slice(1);
  if (line.startsWith("+")) return { kind: "add", text };
  if (line.startsWith("-")) return { kind: "remove", text };
  if (line === "" || line.startsWith(" ")) return { kind: "keep", text };
  throw misfit(`A line of a diff begins with a space, - or +, but not \`${clip(line, 80)}\`.`);
}

interface Place {
  readonly from: number;
  readonly to: number;
}

function findPlace(lines: readonly string[], hunk: Hunk, from: number): Place {
  let start = from;
  for (const anchor of hunk.anchors) {
    const at = findLines(lines, [anchor], start);
    if (at === undefined) throw misfit(`There is no line \`${clip(anchor, 80)}\` to begin from.`);
    start = at + 1;
  }
  const old = hunk.lines.filter(({ kind }) => kind !== "add").map(({ text }) => text);
  if (old.length === 0) {
    const at = hunk.anchors.length > 0 && !hunk.isAtEnd ? start : lines.length;
    return { from: at, to: at };
  }
  const last = lines.length - old.length;
  const atEnd = hunk.isAtEnd && last >= start ? findLines(lines, old, last) : undefined;
  const at = atEnd ?? findLines(lines, old, start);
  if (at !== undefined) return { from: at, to: at + old.length };
  throw misfit(`These lines are not in the file:\n${clip(old.join("\n"), 400)}`);
}

const LIKENESSES: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
];

/** The first match from `start` on; exact matches come first. */
function findLines(
  lines: readonly string[],
  wanted: readonly string[],
  start: number,
): number | undefined {
  for (const like of LIKENESSES) {
    const goal = wanted.map(like);
    for (let at = start; at + goal.length <= lines.length; at++) {
      if (goal.every((line, below) => like(lines[at + below] ?? "") === line)) return at;
    }
  }
  return undefined;
}

function toReplacement({ lines }: Hunk, file: readonly string[], from: number): string[] {
  const replacement: string[] = [];
  let at = from;
  for (const { kind, text } of lines) {
    if (kind === "add") replacement.push(text);
    if (kind === "keep") replacement.push(file[at] ?? text);
    if (kind !== "add") at++;
  }
  return replacement;
}

function misfit(message: string): Failure {
  return new Failure("invalid_request", message, { param: "diff" });
}
