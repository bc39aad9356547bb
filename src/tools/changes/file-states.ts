/**
 * Reads the entry at a path of a workspace, with its content. Like for tools, the entry is held open
 * between the check of the path and its use. A path that leads through a link is refused, because it is
 * another file.
 */

import { createHash } from "node:crypto";
import { lstatSync, type Stats } from "node:fs";
import { type FileHandle, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { type FileState, NOTHING_THERE } from "../../protocol/file-changes.ts";
import { type FolderHold, findHoldWay, HOLDS } from "../workspace/hold.ts";
import { type Jail, type Resolved, resolveInside } from "../workspace/resolve-inside.ts";

export interface SeenFile {
  readonly state: FileState;
  /** The content of a file of at most `maxBytes`. */
  readonly content: Buffer | undefined;
}

export interface FileStates {
  readonly root: string;
  readonly hold: FolderHold;
  /** Rejects with `forbidden` for a path that leads elsewhere, or to a protected file. */
  look(path: string, maxBytes: number): Promise<SeenFile>;
  /** The checked path and the entry there. */
  find(path: string): Promise<Resolved>;
}

/** Rejects if the folder does not exist. */
export async function openFileStates(folder: string): Promise<FileStates> {
  const root = await realpath(folder);
  const hold = HOLDS[await findHoldWay(root)];
  const jail: Jail = { root, name: root, closed: [] };
  const find = async (path: string): Promise<Resolved> => {
    const found = await resolveInside(jail, path, "keep").catch(toMissing(root, path));
    if (found.path !== join(root, path)) throw toElsewhere(path);
    return found;
  };
  return {
    root,
    hold,
    find,
    async look(path, maxBytes) {
      // A link that replaced a folder has nothing below it.
      if (hasLinkAbove(root, path)) return NOTHING;
      const { path: place, stats } = await find(path);
      return stats ? await lookAt({ place, path, hold, maxBytes }, stats) : NOTHING;
    },
  };
}

const NOTHING: SeenFile = { state: NOTHING_THERE, content: undefined };

function hasLinkAbove(root: string, path: string): boolean {
  for (let end = path.indexOf("/"); end > 0; end = path.indexOf("/", end + 1)) {
    const stats = lstatSync(join(root, path.slice(0, end)), { throwIfNoEntry: false });
    if (!stats?.isDirectory()) return stats?.isSymbolicLink() ?? false;
  }
  return false;
}

/** A file has nothing below it. */
function toMissing(root: string, path: string): (thrown: unknown) => Resolved {
  return (thrown) => {
    if (!(thrown instanceof Failure) || thrown.code !== "not_found") throw thrown;
    return { path: join(root, path), relative: path, stats: undefined, existing: root };
  };
}

function toElsewhere(path: string): Failure {
  const message = `Path outside CWD not allowed: ${clip(path, 200)} leads over a link`;
  return new Failure("forbidden", message);
}

interface Looking {
  readonly place: string;
  readonly path: string;
  readonly hold: FolderHold;
  readonly maxBytes: number;
}

async function lookAt({ place, path, hold, maxBytes }: Looking, stats: Stats): Promise<SeenFile> {
  if (stats.isDirectory()) return { state: toFolder(stats), content: undefined };
  if (stats.isSymbolicLink()) {
    return { state: { kind: "link", target: await readlink(place) }, content: undefined };
  }
  if (!stats.isFile()) return { state: { kind: "other" }, content: undefined };
  const handle = await hold.openFile(place, path);
  try {
    return await readSeen(handle, maxBytes);
  } finally {
    await handle.close();
  }
}

function toFolder({ mode }: Stats): FileState {
  return { kind: "folder", mode: mode & 0o777 };
}

const PIECE_BYTES = 256 * 1024;

/** The hash of the whole file, and its content if that is not more than `maxBytes`. */
async function readSeen(handle: FileHandle, maxBytes: number): Promise<SeenFile> {
  const { mode } = await handle.stat();
  const hash = createHash("sha256");
  let pieces: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const { bytesRead } = await handle.read(piece, 0, piece.length);
    if (bytesRead === 0) break;
    const read = piece.subarray(0, bytesRead);
    hash.update(read);
    bytes += bytesRead;
    if (bytes <= maxBytes) pieces.push(read);
    else pieces = [];
  }
  const state = { kind: "file", mode: mode & 0o777, bytes, sha256: hash.digest("hex") } as const;
  return { state, content: bytes <= maxBytes ? Buffer.concat(pieces) : undefined };
}
