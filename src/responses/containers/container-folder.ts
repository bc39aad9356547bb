/**
 * A container's files as a folder of the machine, for commands. Only this process and commands that have ended write
 * there, so nothing changes during a copy. Files that commands leave are not trusted: links are neither followed nor
 * written through.
 */

import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { toFailure } from "../../base/failure.ts";
import { walkFolder } from "../../tools/sandbox/folder-walk.ts";
import { removeFolder } from "../../tools/sandbox/private-folder.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import {
  type ContainerFile,
  deleteContainerFile,
  listContainerFiles,
  readContainerBytes,
  writeContainerFile,
} from "./container-files.ts";
import type { ContainerName } from "./container-name.ts";

export interface ContainerFolder {
  /** The path without links. */
  readonly path: string;
  /** Updates files that were changed elsewhere since. Call it before commands. */
  copyIn(): Promise<void>;
  /** Stores what commands have changed. Returns what could not be stored, one line each. */
  copyOut(): Promise<string[]>;
  /**
   * Empties the folder: what commands have changed since the last copy is lost. Returns a line that says so.
   */
  reset(): Promise<string[]>;
}

/** Larger files stay in the folder until the run ends. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_CHANGED = 200;
const MAX_SCANNED = 20_000;

/** The state of a file when both sides were last equal. */
interface Known {
  readonly version: string;
  readonly stamp: string;
}

/** `own` is a folder to make it in, which the caller removes. */
export async function createContainerFolder(
  parts: ShelfParts,
  container: ContainerName,
  own: string,
): Promise<ContainerFolder> {
  const path = join(own, "data");
  await mkdir(path);
  const known = new Map<string, Known>();
  const { shelf } = parts;

  async function copyIn(): Promise<void> {
    const files = await listContainerFiles(shelf, container);
    for (const file of files) {
      if (known.get(file.path)?.version === file.version) continue;
      const bytes = await readContainerBytes(shelf, container, file);
      const stamp = await writeInside(path, file.path, bytes);
      known.set(file.path, { version: file.version, stamp });
    }
    const there = new Set(files.map((file) => file.path));
    for (const gone of [...known.keys()].filter((one) => !there.has(one))) {
      known.delete(gone);
      await rm(join(path, gone), { force: true });
    }
  }

  async function copyOut(): Promise<string[]> {
    const { found, isWhole } = await scan(path);
    const changed = [...found].filter(([name, stamp]) => known.get(name)?.stamp !== stamp);
    const notes = changed.slice(MAX_CHANGED).map(([name]) => `${name} was not kept`);
    for (const [name, stamp] of changed.slice(0, MAX_CHANGED)) {
      try {
        const bytes = await readInside(path, name);
        await writeContainerFile(parts, container, {
          path: name,
          source: "assistant",
          maxBytes: MAX_FILE_BYTES,
          bytes: toStream(bytes),
        });
        known.set(name, { version: "", stamp });
      } catch (thrown) {
        notes.push(`${name} was not kept: ${toFailure(thrown).message}`);
      }
    }
    const files = await listContainerFiles(shelf, container);
    // A file that was not examined may still exist.
    if (isWhole) await forgetRemoved(files, found);
    for (const file of files) rememberVersion(file);
    return notes;
  }

  /** A file that commands have removed is removed from the container too. */
  async function forgetRemoved(
    files: readonly ContainerFile[],
    found: ReadonlyMap<string, string>,
  ): Promise<void> {
    for (const file of files.filter((one) => known.has(one.path) && !found.has(one.path))) {
      await deleteContainerFile(shelf, container, file.id);
      known.delete(file.path);
    }
  }

  function rememberVersion({ path: name, version }: ContainerFile): void {
    const seen = known.get(name);
    if (seen?.version === "") known.set(name, { ...seen, version });
  }

  async function reset(): Promise<string[]> {
    known.clear();
    await removeFolder(path);
    await mkdir(path);
    return ["What the last commands changed was not kept: the container's files are as before."];
  }

  return { path, copyIn, copyOut, reset };
}

/** Regular files only, each with a mark that changes when the file does. */
async function scan(root: string): Promise<Scan> {
  const found = new Map<string, string>();
  let seen = 0;
  const end = await walkFolder(root, (path, stats) => {
    if (stats.isFile()) found.set(path, toStamp(stats));
    return ++seen < MAX_SCANNED;
  });
  return { found, isWhole: end === "all" };
}

interface Scan {
  readonly found: Map<string, string>;
  /** True if all files were examined. */
  readonly isWhole: boolean;
}

function toStamp({ mtimeMs, size, ino }: Stats): string {
  return `${mtimeMs} ${size} ${ino}`;
}

async function readInside(root: string, name: string): Promise<Buffer> {
  const file = await open(join(root, name), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    if (size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Removes whatever has the name first, a link too. */
async function writeInside(root: string, name: string, bytes: Buffer): Promise<string> {
  const steps = name.split("/").slice(0, -1);
  let folder = root;
  for (const step of steps) {
    folder = join(folder, step);
    const about = await lstat(folder).catch(() => undefined);
    if (about?.isDirectory()) continue;
    if (about) await rm(folder, { force: true });
    await mkdir(folder);
  }
  const place = join(root, name);
  await rm(place, { recursive: true, force: true });
  const file = await open(place, "wx", 0o644);
  try {
    await file.writeFile(bytes);
  } finally {
    await file.close();
  }
  return toStamp(await lstat(place));
}

async function* toStream(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
