/**
 * Reads the submodules that a repository's index names. For the state of the whole repository, git enters
 * the folder of each, and runs what the settings of a repository there say.
 *
 * Read from the file, whose form is in git's `gitformat-index(5)`: the index is in `.git`, which no command
 * can change, while `.gitmodules` is a file of the workspace.
 */

import { type BigIntStats, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { readBytes } from "./git-config.ts";

const SUBMODULE_MODE = 0o160000;
/** Times, device, inode, mode, owner and size come before the hash. */
const MODE_AT = 24;
const HASH_AT = 40;

/** About two million files. */
const MAX_INDEX_BYTES = 256 * 1024 * 1024;

const known = new Map<string, { readonly stamp: string; readonly paths: readonly string[] }>();

/** Relative to the top of the working tree. Read again only if the file has changed. */
export function readSubmodules(gitFolder: string, hashBytes: number): readonly string[] {
  return indexFiles(gitFolder).flatMap((file) => {
    const stats = statOf(file);
    if (!stats) return [];
    const stamp = `${stats.ino}:${stats.size}:${stats.ctimeNs}`;
    const last = known.get(file);
    if (last?.stamp === stamp) return last.paths;
    const bytes = readBytes(file, MAX_INDEX_BYTES);
    const paths = bytes ? parseSubmodules(bytes, hashBytes) : [];
    known.set(file, { stamp, paths });
    return paths;
  });
}

/** A split index keeps most of its entries in a second file. */
function indexFiles(gitFolder: string): string[] {
  try {
    const names = readdirSync(gitFolder).filter((name) => /^(?:index|sharedindex\..*)$/.test(name));
    return names.map((name) => join(gitFolder, name));
  } catch {
    return [];
  }
}

export function parseSubmodules(bytes: Buffer, hashBytes: number): string[] {
  if (bytes.length < 12 || bytes.toString("latin1", 0, 4) !== "DIRC") return [];
  const version = bytes.readUInt32BE(4);
  const found: string[] = [];
  const fixed = HASH_AT + hashBytes + 2;
  let name: Buffer = Buffer.alloc(0);
  let at = 12;
  for (let left = bytes.readUInt32BE(8); left > 0 && at + fixed < bytes.length; left--) {
    const isExtended = (bytes.readUInt8(at + fixed - 2) & 0x40) !== 0;
    const start = at + fixed + (isExtended ? 2 : 0);
    // From version 4 on a name says how much of the last one's end it drops.
    const { value: dropped, next } =
      version >= 4 ? readVarint(bytes, start) : { value: name.length, next: start };
    const end = bytes.indexOf(0, next);
    if (end === -1) break;
    const kept = name.subarray(0, Math.max(0, name.length - dropped));
    name = Buffer.concat([kept, bytes.subarray(next, end)]);
    if (bytes.readUInt32BE(at + MODE_AT) === SUBMODULE_MODE) found.push(name.toString("utf8"));
    // Entries of older versions are padded to a multiple of eight bytes, with at least one zero.
    at = version >= 4 ? end + 1 : at + Math.ceil((end + 1 - at) / 8) * 8;
  }
  return found;
}

/** In git's form of offsets: seven bits each, and one is added for each byte that follows. */
function readVarint(
  bytes: Buffer,
  start: number,
): { readonly value: number; readonly next: number } {
  let at = start;
  let byte = bytes[at++] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes[at++] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: at };
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}
