/**
 * An empty folder in the place of something that is missing, for as long as commands run: the sandbox
 * can only cover what is there, and what is covered cannot be made.
 *
 * Commands that run at the same time, also those of other processes, share it. Each puts a marker into
 * it and removes its own again; the system removes no folder that holds something, so the placeholder
 * goes with the last one, and none is left with a cover that has lost its place. Markers are folders
 * too: version control records no folder without files, so nobody commits them.
 */

import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { lstat, mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { isOwnerGone, ownerMark } from "./marker-owner.ts";

/** Those whose programs run what their settings say, so that commands must not make them either. */
export const UNMADE = { hidden: [".offshoot"], readOnly: [".git", ".hg", ".jj"] };

/** With its owner's mark after it: markers of a process that has crashed are cleared by the next. */
const MARKER = ".offshoot-cover-";

/** Each means that somebody removed it in the very moment between making and marking it. */
const MAX_ATTEMPTS = 100;

export interface Placeholder {
  readonly path: string;
  release(): Promise<void>;
}

/**
 * Nothing where something lies already, or where a command could not make it either. An empty folder
 * is taken for a placeholder, and is gone afterwards. Rejects with `forbidden` where there is no telling.
 */
export async function holdPlace(path: string): Promise<Placeholder | undefined> {
  const marker = join(path, `${MARKER}${ownerMark()}-${randomBytes(8).toString("hex")}`);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await take(path);
    if (found === "other") return undefined;
    if (found === "placeholder" && (await isMarked(marker))) {
      return { path, release: () => leave(path, marker) };
    }
  }
  throw uncovered(path, "others keep removing it");
}

/** Whether a folder is there for a placeholder alone. One that is empty may be anybody's. */
export function isPlaceholder(path: string): boolean {
  try {
    const names = readdirSync(path);
    return names.length > 0 && names.every((name) => name.startsWith(MARKER));
  } catch {
    return false;
  }
}

/** Removes placeholders that crashed processes have left. What is in use, or is not one, stays. */
export async function clearPlaces(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const names = await readdir(path).catch(() => []);
    if (names.length === 0 || (await look(path)) !== "placeholder") continue;
    // Not empty where somebody else's marker is still good.
    await rmdir(path).catch(() => undefined);
  }
}

/** What lies at a path, or would if anybody could make it. Makes the folder where nothing does. */
type Found = "placeholder" | "other" | "gone";

async function take(path: string): Promise<Found> {
  try {
    await mkdir(path);
    return "placeholder";
  } catch (thrown) {
    const { code = "" } = thrown as NodeJS.ErrnoException;
    if (code === "EEXIST") return look(path);
    if (["EROFS", "ENOENT", "ENOTDIR"].includes(code)) return "other";
    // Whoever owns the folder above may change what is allowed in it, and so may a command.
    const { uid } = await lstat(dirname(path));
    if (["EACCES", "EPERM"].includes(code) && uid !== process.getuid?.()) return "other";
    throw uncovered(path, code);
  }
}

/** Clears the markers whose owners are gone on the way. */
async function look(path: string): Promise<Found> {
  try {
    if (!(await lstat(path)).isDirectory()) return "other";
    const names = await readdir(path);
    if (!names.every((name) => name.startsWith(MARKER))) return "other";
    await Promise.all(names.map((name) => clearMarker(path, name)));
    return "placeholder";
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ENOENT" ? "gone" : "other";
  }
}

async function clearMarker(path: string, name: string): Promise<void> {
  const marker = join(path, name);
  const stats = await lstat(marker).catch(() => undefined);
  if (!stats || !isOwnerGone(name.slice(MARKER.length), stats.mtimeMs)) return;
  await rm(marker, { recursive: true, force: true });
}

async function isMarked(marker: string): Promise<boolean> {
  try {
    await mkdir(marker);
    return true;
  } catch (thrown) {
    // The folder is gone again, with whoever was the last in it.
    const { code = "" } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT") return false;
    throw uncovered(dirname(marker), code);
  }
}

async function leave(path: string, marker: string): Promise<void> {
  await rmdir(marker).catch(() => undefined);
  // Others are still in it, or somebody put something of his own there: it stays.
  await rmdir(path).catch(() => undefined);
}

function uncovered(path: string, why: string): Failure {
  const message = `The sandbox cannot keep commands from making \`${clip(path, 200)}\` (${why}): make that folder, or let the workspace be written to.`;
  return new Failure("forbidden", message);
}
