/** The meaning of SQLite's errors for a store: in one place, by SQLite's own numbers. */

import { isNoRoom } from "../../base/disk-full.ts";
import { Failure, toFailure } from "../../base/failure.ts";

type Fault = "busy" | "full" | "damaged" | "other";

/** SQLite's primary result codes. */
const FAULTS: Readonly<Record<number, Fault>> = {
  5: "busy",
  6: "busy",
  11: "damaged",
  13: "full",
  26: "damaged",
};

/**
 * Extended codes that say more than their primary one, "disk I/O error": a write that the system
 * refused (a quota or a limit on file sizes), and no room for the first bytes or the rest of the `-shm`
 * file. One that may not be opened at all has another code.
 */
const EXTENDED: Readonly<Record<number, Fault>> = { 778: "full", 4618: "full", 4874: "full" };

/** SQLite's words for the same: some calls of `@photostructure/sqlite` give no number. */
const WORDS: readonly (readonly [RegExp, Fault])[] = [
  [/^database (table |schema )?is locked/, "busy"],
  [/^database disk image is malformed|^file is not a database/, "damaged"],
  [/^database or disk is full/, "full"],
];

export function faultOf(thrown: unknown): Fault {
  if (!(thrown instanceof Error)) return "other";
  // The file itself could not be made.
  if (isNoRoom(thrown)) return "full";
  if (!("errcode" in thrown)) {
    return WORDS.find(([words]) => words.test(thrown.message))?.[1] ?? "other";
  }
  const code = Number(thrown.errcode);
  return EXTENDED[code] ?? FAULTS[code & 0xff] ?? "other";
}

/** The failure of a write, or of a read, that SQLite refused. */
export function toStoreFailure(path: string, cause: unknown): Failure {
  const reason = toFailure(cause).message;
  switch (faultOf(cause)) {
    case "busy": {
      const message = `The store \`${path}\` is locked by another program. Let it end its transaction, then try again.`;
      return new Failure("store_busy", message, { cause, retryAfterMs: 1000 });
    }
    case "full": {
      const message = `The store \`${path}\` could not be written: ${reason}. Free some space on its disk.`;
      return new Failure("store_full", message, { cause });
    }
    case "damaged":
      return toDamaged(path, reason, cause);
    case "other": {
      const message = `The store \`${path}\` could not be written: ${reason}.`;
      return new Failure("store_failed", message, { cause });
    }
  }
}

/** The failure of every write after the disk has failed once: only a new start finds out what it has. */
export function toLostFailure(path: string, cause: unknown): Failure {
  const reason = toFailure(cause).message;
  const message = `The disk of the store \`${path}\` failed (${reason}), and may have lost the last writes. This process writes no more to it. Check the disk, then start again.`;
  return new Failure("store_failed", message, { cause });
}

/** The failure of an opening: no room for it, no store, or none that this version may touch. */
export function toUnusable(path: string, cause: unknown): Failure {
  const fault = faultOf(cause);
  // A file that is not a database at all may belong to another program; one that is damaged was ours.
  if (fault === "full" || (fault === "damaged" && !isNoDatabase(cause))) {
    return toStoreFailure(path, cause);
  }
  const reason = toFailure(cause).message;
  if (isUnmakeable(cause)) {
    const message = `The store \`${path}\` cannot be made (${reason.split(":")[0]}). Set \`OFFSHOOT_DATA\` to a folder that you can write to, or keep no record with \`--no-store\`.`;
    return new Failure("invalid_request", message, { cause });
  }
  const message = `The store \`${path}\` cannot be used: ${reason}. Name another file, or move this one away.`;
  return new Failure("invalid_request", message, { cause });
}

/** The system does not let this user make the file or its folder. */
function isUnmakeable(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" && UNMAKEABLE.has(code);
}

const UNMAKEABLE: ReadonlySet<string> = new Set([
  ...["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR"],
]);

function isNoDatabase(thrown: unknown): boolean {
  return toFailure(thrown).message.startsWith("file is not a database");
}

export function toDamaged(path: string, reason: string, cause?: unknown): Failure {
  const message = `The store \`${path}\` is damaged: ${reason}. See \`offshoot store check\`, and restore a backup.`;
  return new Failure("store_failed", message, { cause });
}
