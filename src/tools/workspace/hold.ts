/**
 * Holds a file or folder open between the check of its path and its use, so that swapping it for a link in
 * between has no effect.
 *
 * `descriptor` (Linux): opened without its content first, its real path asked from the kernel, and used
 * through that descriptor. `path` (elsewhere): checked before and after, which detects a swap but cannot
 * undo a write that went through it.
 */

import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { Failure } from "../../base/failure.ts";
import { isHeldFile } from "../../base/held-files.ts";
import { clip } from "../../base/text.ts";

export type HoldWay = "descriptor" | "path";

export interface FolderHold {
  /** Opens the file at a real path, for reading. The caller closes it. */
  openFile(place: string, path: string): Promise<FileHandle>;
  /** Works in the folder at a real path, under a name that is valid while `work` runs. */
  inFolder<Result>(
    place: string,
    path: string,
    work: (base: string) => Promise<Result>,
  ): Promise<Result>;
}

/** Exists on Linux, but has no name in Node: opens the path itself without its content. */
const O_PATH = 0o10000000;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
/** Without waiting: a named pipe would block the thread that opens it until a process writes to it. */
const TO_READ = O_RDONLY | O_NONBLOCK;

export const HOLDS: Readonly<Record<HoldWay, FolderHold>> = {
  descriptor: {
    async openFile(place, path) {
      refuseHeld(place, path);
      return withPin(place, path, 0, async (pin, name) => {
        const stats = await pin.stat();
        if (!stats.isFile()) throw stats.isSymbolicLink() ? swapped(path) : notRegular(path);
        return open(name, TO_READ);
      });
    },
    inFolder: (place, path, work) => withPin(place, path, O_DIRECTORY, (_, name) => work(name)),
  },
  path: {
    async openFile(place, path) {
      refuseHeld(place, path);
      const handle = await open(place, TO_READ | O_NOFOLLOW).catch(toSwap(path));
      try {
        const held = await handle.stat({ bigint: true });
        const there = await lookAt(place, path);
        if (held.ino !== there.ino || held.dev !== there.dev) throw swapped(path);
        if (!held.isFile()) throw notRegular(path);
        return handle;
      } catch (thrown) {
        await handle.close();
        throw thrown;
      }
    },
    async inFolder(place, path, work) {
      const before = await lookAt(place, path);
      const result = await work(place);
      const after = await lookAt(place, path);
      if (before.ino !== after.ino || before.dev !== after.dev) throw swapped(path);
      return result;
    },
  },
};

/** The way that this system supports: `/proc` may be missing in a container. */
export async function findHoldWay(root: string): Promise<HoldWay> {
  if (process.platform !== "linux") return "path";
  try {
    return await withPin(root, root, O_DIRECTORY, async () => "descriptor" as const);
  } catch {
    // Whatever the reason, the other way needs nothing from the system.
    return "path";
  }
}

export function notRegular(path: string): Failure {
  return new Failure("invalid_request", `Not a regular file: ${path}`);
}

/** Opening and closing it would remove the record's locks. */
function refuseHeld(place: string, path: string): void {
  if (!isHeldFile(place)) return;
  const message = `${clip(path, 200)} is the record that this process is writing. Read a copy: \`offshoot store backup FILE\`.`;
  throw new Failure("forbidden", message);
}

function swapped(path: string, cause?: unknown): Failure {
  const message = `Path outside CWD not allowed: ${clip(path, 200)} was swapped while it was opened`;
  return new Failure("forbidden", message, { cause });
}

function toSwap(path: string): (cause: NodeJS.ErrnoException) => never {
  return (cause) => {
    throw cause.code === "ELOOP" || cause.code === "ENOTDIR" ? swapped(path, cause) : cause;
  };
}

/** Calls `work` with the descriptor and a name for what it holds. Closes it. */
async function withPin<Result>(
  place: string,
  path: string,
  flags: number,
  work: (pin: FileHandle, name: string) => Promise<Result>,
): Promise<Result> {
  const pin = await open(place, O_PATH | O_NOFOLLOW | flags).catch(toSwap(path));
  try {
    // With our process number, because processes that are started in it read the name, too.
    const name = `/proc/${process.pid}/fd/${pin.fd}`;
    const real = await readlink(name);
    // If another process is just replacing the file, the name of the removed one still has its path.
    if (real !== place && real !== `${place} (deleted)`) throw swapped(path);
    return await work(pin, name);
  } finally {
    await pin.close();
  }
}

async function lookAt(place: string, path: string) {
  const real = await realpath(place);
  const stats = await lstat(place, { bigint: true });
  if (real !== place) throw swapped(path);
  return stats;
}
