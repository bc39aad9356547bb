/**
 * A workspace under an editor. Texts that the editor has open are read and written there, so that unsaved
 * changes are seen and no file changes under the user's hands. Every path passes the checks of the
 * workspace first. Files that are not text, and operations that the editor cannot do, use the disk, and so
 * do searches and listings.
 */

import { isUtf8 } from "node:buffer";
import { posix } from "node:path";
import { Failure, toFailure } from "../../base/failure.ts";
import type { Workspace } from "./workspace.ts";

/** Files in an editor, by their real, absolute paths. */
export interface FileBuffers {
  /** Undefined if the editor does not have the file, or cannot say. */
  read(path: string): Promise<string | undefined>;
  /** False if the editor cannot write it, and has not. */
  write(path: string, text: string): Promise<boolean>;
}

export function overBuffers(disk: Workspace, buffers: FileBuffers): Workspace {
  return {
    root: disk.root,
    hardLinks: disk.hardLinks,
    locate: (path, use) => disk.locate(path, use),
    follow: (path) => disk.follow(path),
    within: (path, work) => disk.within(path, work),
    shows: (relative) => disk.shows(relative),
    list: (path) => disk.list(path),
    makeFolder: (path) => disk.makeFolder(path),
    remove: (path) => disk.remove(path),
    move: (from, to) => disk.move(from, to),
    async readFile(path, maxBytes) {
      const bytes = await disk.readFile(path, maxBytes).catch(toMissing);
      if (bytes instanceof Failure) return (await readNew(path, maxBytes)) ?? fail(bytes);
      if (!isUtf8(bytes)) return bytes;
      const text = await buffers.read((await disk.locate(path, "read")).path);
      return text === undefined ? bytes : toBytes(text, maxBytes, path);
    },
    async writeFile(path, content) {
      const text = toText(content);
      const { path: place, isFolder } = await disk.locate(path, "write");
      if (text === undefined || isFolder) return await disk.writeFile(path, content);
      const folder = posix.dirname(path);
      // An editor creates the file, but not the folders above it.
      if (folder !== "." && folder !== path) await disk.makeFolder(folder);
      if (!(await buffers.write(place, text))) await disk.writeFile(path, content);
    },
  };

  /** A file that was never saved exists only in the editor. */
  async function readNew(path: string, maxBytes: number): Promise<Buffer | undefined> {
    const place = await disk.locate(path, "write").catch(() => undefined);
    const text = place && !place.exists ? await buffers.read(place.path) : undefined;
    return text === undefined ? undefined : toBytes(text, maxBytes, path);
  }
}

function toMissing(thrown: unknown): Failure {
  const failure = toFailure(thrown);
  if (failure.code === "not_found") return failure;
  throw failure;
}

function fail(failure: Failure): never {
  throw failure;
}

function toBytes(text: string, maxBytes: number, path: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return bytes;
  const message = `${path} has ${bytes.length} bytes in the editor; ${maxBytes} at most are read.`;
  throw new Failure("invalid_request", message);
}

/** Undefined for content that is not text. */
function toText(content: string | Uint8Array): string | undefined {
  if (typeof content === "string") return content;
  return isUtf8(content) ? Buffer.from(content).toString("utf8") : undefined;
}
