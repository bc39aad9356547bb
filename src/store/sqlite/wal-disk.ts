/**
 * Waits for the disk on behalf of SQLite, in a thread of libuv and not on the event loop. SQLite commits to its WAL
 * without a wait (`synchronous = normal`); what has to survive a loss of power then waits for one `fdatasync` of the
 * WAL, which is what SQLite itself would do in the commit with `synchronous = full`. All commits that were made before
 * an `fdatasync` began share it.
 *
 * After an `fdatasync` has failed, none is believed any more, and the database takes no more writes: the system drops
 * the pages that it could not write, and calls the next `fdatasync` a success (https://lwn.net/Articles/752063/).
 * PostgreSQL ends itself there. SQLite reads the WAL up to the first page that is lost, so whatever was written later
 * would be lost with it.
 *
 * Opening the WAL beside SQLite is safe, the database and its `-shm` are not: SQLite takes its locks on those two, and
 * closing any descriptor of a file drops the locks that the process has on it.
 */

import { close, closeSync, fdatasync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

export interface Disk {
  /** Resolves when everything that was committed before the call is on the disk. Rejects if the disk fails. */
  sync(): Promise<void>;
  /** Settles when the disk is no longer at work; undefined while it is not. Never rejects. */
  readonly busy: Promise<unknown> | undefined;
  /** Why what was written may be lost; undefined while the disk has not failed. Each `sync` rejects with it. */
  readonly failure: unknown;
  close(): void;
}

type Flush = (fd: number, done: (error: Error | null) => void) => void;

/** The WAL must be there when `sync` is called for the first time: a commit has made it. */
export function openWalDisk(wal: string, flush: Flush = fdatasync): Disk {
  let failure: unknown;
  let fd: number | undefined;
  let isClosed = false;
  let running: Promise<void> | undefined;
  /** For commits that came after the running one began. */
  let next: Promise<void> | undefined;

  const start = (): Promise<void> => {
    next = undefined;
    const done = syncNow().finally(() => {
      running = undefined;
      if (isClosed && !next) closeFile();
    });
    running = done;
    return done;
  };

  async function syncNow(): Promise<void> {
    if (failure !== undefined) throw failure;
    fd ??= openNamed(wal);
    const file = fd;
    await new Promise<void>((resolve, reject) => {
      flush(file, (error) => {
        failure ??= error ?? undefined;
        if (failure === undefined) resolve();
        else reject(failure);
      });
    });
  }

  function closeFile(): void {
    if (fd !== undefined) close(fd, () => {});
    fd = undefined;
  }

  return {
    sync() {
      if (!running) return start();
      next ??= running.then(start, start);
      return next;
    },
    get busy() {
      return running?.catch(() => {});
    },
    get failure() {
      return failure;
    },
    close() {
      isClosed = true;
      if (!running) closeFile();
    },
  };
}

function openNamed(wal: string): number {
  const fd = openSync(wal, "r+");
  syncFolder(dirname(wal));
  return fd;
}

/** A new file can be lost with its name after a loss of power, unless its folder was written too. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(path, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows and some network file systems cannot do this; SQLite ignores it there as well.
  }
}

/** For a file that has no WAL: SQLite waits for the disk itself. */
export const NO_DISK: Disk = {
  sync: async () => {},
  busy: undefined,
  failure: undefined,
  close() {},
};
