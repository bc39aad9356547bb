/**
 * A file of words that somebody else may have written: AGENTS.md, SKILL.md. It is read in one way: small, a regular
 * file, UTF-8, inside the folder it belongs to, of this user or root. Whatever else it is, is refused in a few words.
 */

import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";

export interface NotesPlace {
  /** What a link may not lead out of. */
  readonly root: string;
  /** Of this process; undefined where the system has none. */
  readonly uid: number | undefined;
}

export type ReadNotes =
  | {
      readonly text: string;
      readonly bytes: number;
      /** Whether sequences that draw on a terminal, or turn the direction of text, were left out. */
      readonly hadSequences: boolean;
    }
  /** What is wrong with it, to be put after its name: `is not UTF-8 text`. */
  | { readonly refused: string };

/** A page or ten. Whatever is larger is another kind of file. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Undefined where there is none. Never rejects: what is wrong with a stranger's file ends no run. */
export async function readNotesFile(
  path: string,
  place: NotesPlace,
): Promise<ReadNotes | undefined> {
  try {
    await lstat(path);
    const real = await realpath(path);
    if (!isInside(await realpath(place.root), real)) return { refused: "links out of its folder" };
    // Opening a pipe would wait for a writer; a link that came meanwhile is not followed.
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
  // Read to a bound of its own: some files say that they have no size.
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
    return { text: withoutControls(text), bytes: bytes.length, hadSequences };
  } catch {
    return { refused: "is not UTF-8 text" };
  }
}

/** OSC, DCS, APC, PM and SOS up to their end; CSI; then any other escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const SEQUENCES = /\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]?|\x1b./gs;
/** Controls except tab and line feed, and marks that turn the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const DRAWING = /[\x1b\u202a-\u202e\u2066-\u2069]/;

/** Nobody needs them in words, and what is told to a model may be shown on a terminal. */
function withoutControls(text: string): string {
  const plain = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  return plain.replace(SEQUENCES, "").replace(CONTROLS, "");
}

function isInside(root: string, path: string): boolean {
  const [first = ""] = relative(root, path).split(sep);
  return first !== ".." && !isAbsolute(first);
}
