/**
 * An empty folder in the place of a missing path while commands run: the sandbox can only cover what
 * exists, and a covered path cannot be created.
 *
 * Commands that run at the same time share it, even those of other processes. Each puts a marker into it
 * and removes its own again. The system does not remove a folder with entries, so the placeholder goes with
 * the last marker, and its cover never loses its place. Markers are folders too: version control does not
 * record folders without files, so they are never committed.
 */

import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { lstat, mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { isOwnerGone, ownerMark } from "./marker-owner.ts";

/** Paths whose programs run what their settings say, so commands must not create them either. */
export const UNMADE = { hidden: [".offshoot"], readOnly: [".git", ".hg", ".jj"] };

/** The owner's mark follows. A later process clears the markers of one that has crashed. */
const MARKER = ".offshoot-cover-";

/** Each attempt means that it was removed at the moment between making and marking it. */
const MAX_ATTEMPTS = 100;

export interface Placeholder {
  readonly path: string;
  release(): Promise<void>;
}

/**
 * Undefined if the path exists, or if a command could not create it either. An empty folder counts as a
 * placeholder, and is removed afterwards. Rejects with `forbidden` if it cannot be held.
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

/** True if a folder is only a placeholder. An empty one may be anyone's. */
export function isPlaceholder(path: string): boolean {
  try {
    const names = readdirSync(path);
    return names.length > 0 && names.every((name) => name.startsWith(MARKER));
  } catch {
    return false;
  }
}

/** Removes placeholders that crashed processes have left. Those in use, and other folders, stay. */
export async function clearPlaces(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const names = await readdir(path).catch(() => []);
    if (names.length === 0 || (await look(path)) !== "placeholder") continue;
    // Not empty if another process's marker is still valid.
    await rmdir(path).catch(() => undefined);
  }
}

/** The kind of entry at a path, or of the one that could be created. Creates the folder if there is none. */
type Found = "placeholder" | "other" | "gone";

async function take(path: string): Promise<Found> {
  try {
    await mkdir(path);
    return "placeholder";
  } catch (thrown) {
    const { code = "" } = thrown as NodeJS.ErrnoException;
    if (code === "EEXIST") return look(path);
    if (["EROFS", "ENOENT", "ENOTDIR"].includes(code)) return "other";
    // The owner of the folder above may change its permissions, and so may a command.
    const { uid } = await lstat(dirname(path));
    if (["EACCES", "EPERM"].includes(code) && uid !== process.getuid?.()) return "other";
    throw uncovered(path, code);
  }
}

/** Also clears the markers whose owners are gone. */
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
    // The folder was removed with its last marker.
    const { code = "" } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT") return false;
    throw uncovered(dirname(marker), code);
  }
}

async function leave(path: string, marker: string): Promise<void> {
  await rmdir(marker).catch(() => undefined);
  // Other markers are still in it, or a user's files: it stays.
  await rmdir(path).catch(() => undefined);
}

function uncovered(path: string, why: string): Failure {
  const message = `The sandbox cannot keep commands from making \`${clip(path, 200)}\` (${why}): create that folder, or make the workspace writable.`;
  return new Failure("forbidden", message);
}
