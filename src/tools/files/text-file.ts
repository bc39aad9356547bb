/** Text files of the workspace: read as text or refused, counted in lines, changed in one place. */

import { Failure } from "../../base/failure.ts";
import type { Workspace } from "../workspace/workspace.ts";

const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** For reading: bytes that are no UTF-8 are shown as such. */
export async function readText(
  workspace: Workspace,
  path: string,
  maxBytes: number,
): Promise<string> {
  const bytes = await workspace.readFile(path, maxBytes);
  if (bytes.includes(0)) throw notText(path);
  return bytes.toString("utf8");
}

/** For changing: what is not UTF-8 throughout would not survive. */
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

/** Undefined where there is no such file. */
export async function readIfThere(
  workspace: Workspace,
  path: string,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const { exists } = await workspace.locate(path, "write");
  return exists ? workspace.readFile(path, maxBytes) : undefined;
}

export function toLines(content: string): string[] {
  return content === "" ? [] : content.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** A last line without its end counts too. */
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

/** The content with the one place changed, and the line where that begins. */
export function replaceOnce(
  content: string,
  { path, before, after }: Change,
): { readonly content: string; readonly line: number } {
  const parts = content.split(before);
  const found = parts.length - 1;
  if (found === 0) throw new Failure("invalid_request", `String not found in ${path}`);
  if (found > 1) {
    const message = `String found ${found} times in ${path}. Provide a more specific string with surrounding context.`;
    throw new Failure("invalid_request", message);
  }
  const [head = ""] = parts;
  // Joined, not `replace`d: a `$` in the new text is a `$`.
  return { content: parts.join(after), line: head.split("\n").length };
}

function notText(path: string, cause?: unknown): Failure {
  return new Failure("invalid_request", `Not a text file: ${path}`, { cause });
}
