/**
 * A container's files as a folder of the machine, for commands. Only this process and commands that
 * have ended write there, so nothing changes under our hands; what commands leave behind is looked at
 * as a stranger's: links are neither followed nor written through.
 */

import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { toFailure } from "../../base/failure.ts";
import type { ShelfParts } from "../shelf-parts.ts";
import {
  type ContainerFile,
  type ContainerName,
  deleteContainerFile,
  listContainerFiles,
  readContainerBytes,
  writeContainerFile,
} from "./container-files.ts";

export interface ContainerFolder {
  /** Real. */
  readonly path: string;
  /** Puts in place what was changed elsewhere since. Before commands. */
  copyIn(): Promise<void>;
  /** Keeps what commands have changed. Returns what could not be kept, a line each. */
  copyOut(): Promise<string[]>;
}

/** The rest stays in the folder until the run ends. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_CHANGED = 200;
const MAX_SCANNED = 5000;

/** What a file was when it was last the same on both sides. */
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
    const found = await scan(path);
    const changed = [...found].filter(([name, stamp]) => known.get(name)?.stamp !== stamp);
    const notes = changed.slice(MAX_CHANGED).map(([name]) => `${name} was not kept`);
    for (const [name, stamp] of changed.slice(0, MAX_CHANGED)) {
      try {
        const bytes = await readInside(path, name);
        await writeContainerFile(parts, container, {
          ...{ path: name, source: "assistant", maxBytes: MAX_FILE_BYTES },
          bytes: toStream(bytes),
        });
        known.set(name, { version: "", stamp });
      } catch (thrown) {
        notes.push(`${name} was not kept: ${toFailure(thrown).message}`);
      }
    }
    const files = await listContainerFiles(shelf, container);
    await forgetRemoved(files, found);
    for (const file of files) rememberVersion(file);
    return notes;
  }

  /** A file that commands have removed is gone from the container too. */
  async function forgetRemoved(
    files: readonly ContainerFile[],
    found: ReadonlyMap<string, string>,
  ): Promise<void> {
    if (found.size >= MAX_SCANNED) return;
    for (const file of files.filter((one) => known.has(one.path) && !found.has(one.path))) {
      await deleteContainerFile(shelf, container, file.id);
      known.delete(file.path);
    }
  }

  function rememberVersion({ path: name, version }: ContainerFile): void {
    const seen = known.get(name);
    if (seen?.version === "") known.set(name, { ...seen, version });
  }

  return { path, copyIn, copyOut };
}

/** Regular files alone, each with what changes when it does. */
async function scan(root: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(name);
      if (entry.isFile() && found.size < MAX_SCANNED) found.set(name, await stampOf(root, name));
    }
  }
  return found;
}

async function stampOf(root: string, name: string): Promise<string> {
  const { mtimeNs, size, ino } = await lstat(join(root, name), { bigint: true });
  return `${mtimeNs} ${size} ${ino}`;
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

/** Whatever stands in the way, a link among it, is removed first. */
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
  return await stampOf(root, name);
}

async function* toStream(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
