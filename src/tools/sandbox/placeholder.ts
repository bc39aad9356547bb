/**
 * An empty folder in the place of something that is missing, for as long as commands run: the sandbox
 * can only cover what is there, and what is covered cannot be made.
 *
 * Commands that run at the same time, also those of other processes, share it. Each puts a marker into
 * it and takes its own away again; the system removes no folder that holds something, so it goes with
 * the last one, and none is left with a cover that has lost its place.
 */

import { randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";

/** With the number of the process behind it: markers of one that has crashed are cleared by the next. */
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
  const marker = join(path, `${MARKER}${process.pid}-${randomBytes(8).toString("hex")}`);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await take(path);
    if (found === "other") return undefined;
    if (found === "placeholder" && (await isMarked(marker))) {
      return { path, release: () => leave(path, marker) };
    }
  }
  throw uncovered(path, "others keep removing it");
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

async function look(path: string): Promise<Found> {
  try {
    if (!(await lstat(path)).isDirectory()) return "other";
    const names = await readdir(path);
    if (!names.every((name) => name.startsWith(MARKER))) return "other";
    const left = names.filter((name) => !isRunning(Number.parseInt(name.slice(MARKER.length), 10)));
    await Promise.all(left.map((name) => rm(join(path, name), { force: true })));
    return "placeholder";
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ENOENT" ? "gone" : "other";
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function isMarked(marker: string): Promise<boolean> {
  try {
    await writeFile(marker, "", { flag: "wx" });
    return true;
  } catch (thrown) {
    // The folder is gone again, with whoever was the last in it.
    const { code = "" } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT") return false;
    throw uncovered(dirname(marker), code);
  }
}

async function leave(path: string, marker: string): Promise<void> {
  await rm(marker, { force: true }).catch(() => undefined);
  // Others are still in it, or somebody put something of his own there: it stays.
  await rmdir(path).catch(() => undefined);
}

function uncovered(path: string, why: string): Failure {
  const message = `The sandbox cannot keep commands from making \`${clip(path, 200)}\` (${why}): make that folder, or let the workspace be written to.`;
  return new Failure("forbidden", message);
}
