/**
 * How a file or folder is held between the check of its path and its use, so that swapping it for a
 * link in between leads nowhere.
 *
 * `descriptor` (Linux): opened without its content first, asked of the kernel where it really is, and
 * used through that very descriptor. `path` (elsewhere): checked before and after, which finds a swap
 * but cannot undo a write that went through it.
 */

import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { Failure } from "../../base/failure.ts";
import { isHeldFile } from "../../base/held-files.ts";
import { clip } from "../../base/text.ts";

export type HoldWay = "descriptor" | "path";

export interface Hold {
  /** The file at a real path, for reading. The caller closes it. */
  openFile(place: string, path: string): Promise<FileHandle>;
  /** Works in the folder at a real path, by a name for it that is good for as long as `work` lasts. */
  inFolder<Result>(
    place: string,
    path: string,
    work: (base: string) => Promise<Result>,
  ): Promise<Result>;
}

/** Linux has it, Node does not name it: opens the place itself, and nothing of what lies there. */
const O_PATH = 0o10000000;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
/** Without waiting: a named pipe would hold the thread that opens it until somebody writes. */
const TO_READ = O_RDONLY | O_NONBLOCK;

export const HOLDS: Readonly<Record<HoldWay, Hold>> = {
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
        const [held, there] = [await handle.stat({ bigint: true }), await lookAt(place, path)];
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

/** The way that this system has: `/proc` may be missing from a container. */
export async function findHoldWay(root: string): Promise<HoldWay> {
  if (process.platform !== "linux") return "path";
  try {
    return await withPin(root, root, O_DIRECTORY, async () => "descriptor" as const);
  } catch {
    // Whatever hinders it, the other way needs nothing of the system.
    return "path";
  }
}

export function notRegular(path: string): Failure {
  return new Failure("invalid_request", `Not a regular file: ${path}`);
}

/** To open and close it would cost the record its locks. */
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

/** Calls `work` with the descriptor, and a name for what it holds. Closes it. */
async function withPin<Result>(
  place: string,
  path: string,
  flags: number,
  work: (pin: FileHandle, name: string) => Promise<Result>,
): Promise<Result> {
  const pin = await open(place, O_PATH | O_NOFOLLOW | flags).catch(toSwap(path));
  try {
    // By our number: it is read by the processes that are started in it, too.
    const name = `/proc/${process.pid}/fd/${pin.fd}`;
    const real = await readlink(name);
    // What is replaced by another process just now keeps its place in the name of what was removed.
    if (real !== place && real !== `${place} (deleted)`) throw swapped(path);
    return await work(pin, name);
  } finally {
    await pin.close();
  }
}

async function lookAt(place: string, path: string) {
  const [real, stats] = [await realpath(place), await lstat(place, { bigint: true })];
  if (real !== place) throw swapped(path);
  return stats;
}
