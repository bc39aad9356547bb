/** Text files of the workspace: read as text or refused, counted in lines, changed in one place. */

import { Failure } from "../../base/failure.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The limit for files that are changed, or shown page by page: ten times what a model's context holds. */
export const MAX_TEXT_BYTES = 10 * 1024 * 1024;

const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads text to show it: invalid UTF-8 gets replacement characters. */
export async function readText(
  workspace: Workspace,
  path: string,
  maxBytes: number,
): Promise<string> {
  const bytes = await workspace.readFile(path, maxBytes);
  if (bytes.includes(0)) throw notText(path);
  return bytes.toString("utf8");
}

/** Reads text to change it: rejects a file that is not valid UTF-8, because a change would damage it. */
export async function readExactText(
  workspace: Workspace,
  path: string,
  maxBytes: number,
): Promise<string> {
  const bytes = await workspace.readFile(path, maxBytes);
  if (bytes.includes(0)) throw notText(path);
  try {
    return DECODER.decode(bytes);
  } catch (cause) {
    throw notText(path, cause);
  }
}

/** The result of `read` for a file that will be written; undefined if it does not exist yet. */
export async function readIfThere<Content>(
  workspace: Workspace,
  path: string,
  read: () => Promise<Content>,
): Promise<Content | undefined> {
  const { exists } = await workspace.locate(path, "write");
  return exists ? read() : undefined;
}

export function toLines(content: string): string[] {
  return content === "" ? [] : content.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** Counts lines. A last line without its end counts too. */
export function countLines(content: string | Uint8Array): number {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  let ends = 0;
  for (const byte of bytes) if (byte === 0x0a) ends++;
  return bytes.length > 0 && bytes[bytes.length - 1] !== 0x0a ? ends + 1 : ends;
}

interface Change {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** The content with the one place changed, and the line where that place begins. */
export function replaceOnce(
  content: string,
  { path, before, after }: Change,
): { readonly content: string; readonly line: number } {
  const { count, start } = findText(content, before);
  if (count === 0) throw new Failure("invalid_request", `String not found in ${path}`);
  if (count > 1) {
    const message = `String found ${count} times in ${path}. Provide a more specific string with surrounding context.`;
    throw new Failure("invalid_request", message);
  }
  const head = content.slice(0, start);
  const changed = head + after + content.slice(start + before.length);
  return { content: changed, line: head.split("\n").length };
}

/**
 * How often a text occurs, overlapping or not, and where it first does. By Knuth, Morris and Pratt:
 * `indexOf` takes minutes for a long text that nearly occurs everywhere (`aa…ab aa…a` in `aaa…`).
 */
function findText(content: string, text: string): { readonly count: number; start: number } {
  const borders = toBorders(text);
  let count = 0;
  let start = -1;
  let fitting = 0;
  for (let at = 0; at < content.length; at++) {
    const code = content.charCodeAt(at);
    while (fitting > 0 && text.charCodeAt(fitting) !== code) fitting = borders[fitting - 1] ?? 0;
    if (text.charCodeAt(fitting) === code) fitting++;
    if (fitting < text.length) continue;
    if (count++ === 0) start = at + 1 - text.length;
    fitting = borders[fitting - 1] ?? 0;
  }
  return { count, start };
}

/**
 * For each beginning of a text: the length of its longest part that is both its beginning and its end, and
 * not the whole.
 */
function toBorders(text: string): Int32Array {
  const borders = new Int32Array(text.length);
  let fitting = 0;
  for (let at = 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (fitting > 0 && text.charCodeAt(fitting) !== code) fitting = borders[fitting - 1] ?? 0;
    if (text.charCodeAt(fitting) === code) fitting++;
    borders[at] = fitting;
  }
  return borders;
}

function notText(path: string, cause?: unknown): Failure {
  return new Failure("invalid_request", `Not a text file: ${path}`, { cause });
}
