/**
 * A text file that another person may have written: AGENTS.md, SKILL.md. It must be small, a regular file,
 * UTF-8, inside the folder it belongs to, and owned by this user or root. Anything else is refused with a
 * few words.
 */

import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { withoutControls } from "./terminal-controls.ts";

export interface NotesPlace {
  /** A link must not lead out of this folder. */
  readonly root: string;
  /** The user of this process; undefined if the system has none. */
  readonly uid: number | undefined;
}

export type ReadNotes =
  | {
      readonly text: string;
      readonly bytes: number;
      /** True if terminal sequences, or marks that turn the direction of text, were removed. */
      readonly hadSequences: boolean;
    }
  /** The problem, to be put after the file's name: `is not UTF-8 text`. */
  | { readonly refused: string };

/** Most bytes of such a file. A page or ten are usual; a larger one is another kind of file. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads such a file; undefined if there is none. Never rejects: an invalid file of another person must not
 * end a run.
 */
export async function readNotesFile(
  path: string,
  place: NotesPlace,
): Promise<ReadNotes | undefined> {
  try {
    await lstat(path);
    const real = await realpath(path);
    if (!isInside(await realpath(place.root), real)) return { refused: "links out of its folder" };
    // Opening a pipe would wait for a writer. A link that was put there meanwhile is not followed.
    const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
    const handle = await open(real, flags);
    try {
      return await readOpen(handle, place);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    const { code = "unknown" } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { refused: code === "EACCES" ? "may not be read" : `cannot be read (${code})` };
  }
}

async function readOpen(handle: FileHandle, { uid }: NotesPlace): Promise<ReadNotes> {
  const stats = await handle.stat();
  if (!stats.isFile()) return { refused: "is not a regular file" };
  if (uid !== undefined && stats.uid !== uid && stats.uid !== 0) {
    return { refused: "belongs to another user" };
  }
  if (stats.size > MAX_FILE_BYTES) return { refused: toTooLarge(stats.size) };
  // Read with a limit of its own: some files report a size of 0.
  const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
  const bytes = await readUpTo(handle, buffer);
  if (bytes.length > MAX_FILE_BYTES) return { refused: toTooLarge(bytes.length) };
  return toText(bytes);
}

async function readUpTo(handle: FileHandle, buffer: Buffer): Promise<Buffer> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function toTooLarge(size: number): string {
  const mb = (size / 1024 / 1024).toFixed(1);
  return `is too large (${mb} MB; ${MAX_FILE_BYTES / 1024 / 1024} MB is the most)`;
}

function toText(bytes: Buffer): ReadNotes {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.includes("\0")) return { refused: "is not text" };
    const hadSequences = DRAWING.test(text);
    return { text: toPlainText(text), bytes: bytes.length, hadSequences };
  } catch {
    return { refused: "is not UTF-8 text" };
  }
}

/** An escape character, or a mark that turns the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what is looked for
const DRAWING = /[\x1b\u202a-\u202e\u2066-\u2069]/;

/** Removes control characters: text for a model may be shown on a terminal. */
function toPlainText(text: string): string {
  return withoutControls(text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"));
}

function isInside(root: string, path: string): boolean {
  const [first = ""] = relative(root, path).split(sep);
  return first !== ".." && !isAbsolute(first);
}
