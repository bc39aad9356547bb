/**
 * A walk over a folder that commands fill, in short turns: nothing else waits for it, however many entries
 * there are. It follows no links, and skips entries that vanish meanwhile.
 */

import { lstatSync, opendirSync, type Stats } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FolderUse } from "./totals.ts";

/** How many entries are read in one go, which takes about a millisecond. */
const ENTRIES_A_TURN = 200;

/** Why a walk ended: there was no more, its visitor had enough, or a folder could not be read. */
export type WalkEnd = "all" | "enough" | "barred";

type Visit = (path: string, stats: Stats) => boolean;

/** Calls `visit` with each path, relative to the folder, until it returns false. */
export async function walkFolder(root: string, visit: Visit): Promise<WalkEnd> {
  const folders = [""];
  let seen = 0;
  let end: WalkEnd = "all";
  for (const found of listBelow(root, folders)) {
    if (++seen % ENTRIES_A_TURN === 0) await nextTurn();
    if (found === "barred") end = found;
    else if (!visit(found.path, found.stats)) return "enough";
    else if (found.stats.isDirectory()) folders.push(found.path);
  }
  return end;
}

/** The entries of each folder of the list, to which the caller may add folders meanwhile. */
function* listBelow(root: string, folders: string[]): Generator<Entry | "barred"> {
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    yield* listEntries(root, folder);
  }
}

interface Entry {
  readonly path: string;
  readonly stats: Stats;
}

/**
 * Reads entries as they are needed, because a folder may have millions. Closes the folder however the walk
 * ends.
 */
function* listEntries(root: string, folder: string): Generator<Entry | "barred"> {
  const names = openNames(folder === "" ? root : `${root}/${folder}`);
  if (names === "gone") return;
  if (names === "barred") return yield "barred";
  try {
    for (let name = names.next(); name !== undefined; name = names.next()) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const stats = readStats(`${root}/${path}`);
      if (stats) yield stats === "barred" ? stats : { path, stats };
    }
  } finally {
    names.close();
  }
}

/** Stops as soon as there is more than `most`. Counts blocks, so that holes in files cost nothing. */
export async function measureFolder(
  root: string,
  most: { readonly bytes: number; readonly entries: number },
): Promise<FolderUse> {
  let bytes = 0;
  let entries = 0;
  const linked = new Set<number>();
  const end = await walkFolder(root, (_, stats) => {
    entries++;
    const isKnown = stats.nlink > 1 && !stats.isDirectory() && linked.has(stats.ino);
    if (stats.nlink > 1) linked.add(stats.ino);
    if (!isKnown) bytes += stats.blocks * BLOCK_BYTES;
    return bytes <= most.bytes && entries <= most.entries;
  });
  return { bytes, entries, isWhole: end !== "barred" };
}

const BLOCK_BYTES = 512;

interface Names {
  next(): string | undefined;
  close(): void;
}

function openNames(place: string): Names | "gone" | "barred" {
  try {
    const folder = opendirSync(place);
    return { next: () => folder.readSync()?.name, close: () => folder.closeSync() };
  } catch (thrown) {
    const { code = "" } = thrown as NodeJS.ErrnoException;
    return ["ENOENT", "ENOTDIR"].includes(code) ? "gone" : "barred";
  }
}

function readStats(place: string): Stats | "barred" | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch {
    // The folder may be listed and not entered, or the path is too long.
    return "barred";
  }
}
