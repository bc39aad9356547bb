/**
 * Large values of the record in the table `parts`: pieces of 256 KB, a transaction each, so that a value of any size
 * neither holds up the event loop nor other writers.
 *
 * Parts are written before what refers to them. Until then they are named in `drafts`. What a crash left there is
 * removed, one draft at a time, by the sweeps of servers and by each process that opens the file. A writer whose
 * draft was removed stops writing.
 *
 * A draft that has not grown for ten minutes is what a crash left. No wall clock decides: the time is monotonic,
 * which all processes of a boot share, in whatever PID namespace. A process that finds a draft of another boot begins
 * to count in its own time, so the first to look after a reboot removes nothing.
 */

import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import { readMonotonicBoot, readMonotonicMs } from "../../base/processes.ts";
import type { Slices } from "../../base/slices.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** Writing a part takes milliseconds, and a lock on the file delays its writer for at most 30 s. */
const SILENT_MS = 600_000;

/** In bytes: the larger a part, the longer other writers wait for it. */
const PART_BYTES = 256 * 1024;

/** Returns the name of the parts. Holds one part at a time. */
export async function writeParts(
  db: SqliteDatabase,
  pieces: AsyncIterable<Uint8Array>,
  slices: Slices,
): Promise<string> {
  const id = makeId("parts");
  let part = 0;
  try {
    for await (const bytes of joinPieces(pieces)) {
      await slices.next();
      await db.write("process", () => {
        if (part === 0) {
          db.run("insert into drafts (id, created_at_ms) values (?, unixepoch() * 1000)", id);
        }
        const isThere = db.run(GROW, readMonotonicBoot(), readMonotonicMs(), id) > 0;
        if (!isThere) throw new Failure("store_busy", TOO_LATE);
        db.run("insert into parts (id, part, bytes) values (?, ?, ?)", id, part, bytes);
      });
      part++;
    }
    return id;
  } catch (thrown) {
    await dropParts(db, id);
    throw thrown;
  }
}

const TOO_LATE = "A large value took too long to write. Try again.";

const GROW = "update drafts set boot = ?, grew_ms = ? where id = ?";

async function* joinPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let joined: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    joined.push(piece);
    bytes += piece.length;
    if (bytes < PART_BYTES) continue;
    yield Buffer.concat(joined);
    joined = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(joined);
}

/** Inside the transaction that refers to them; or, where another value is the same, removes them. */
export function keepParts(db: SqliteDatabase, id: string, isReferred: boolean): void {
  const isDraft = db.run("delete from drafts where id = ?", id) > 0;
  // A sweep took the draft for leftovers of a crash and removed it with its parts.
  if (isReferred && !isDraft) throw new Failure("store_busy", TOO_LATE);
  // Without a draft, a committed row refers to them, or they are gone.
  if (!isReferred && isDraft) db.run("delete from parts where id = ?", id);
}

/**
 * Removes the parts of a value that could not be written. If the disk failed after the commit, the value is in the
 * record, its draft is gone, and its parts stay.
 */
export async function dropParts(db: SqliteDatabase, id: string): Promise<void> {
  try {
    await db.write("process", () => keepParts(db, id, false));
  } catch {
    // The caller throws the reason of the failed write; a later sweep removes the parts.
  }
}

/** All of them as one; undefined where they were removed meanwhile. */
export async function readParts(
  db: SqliteDatabase,
  id: string,
  slices: Slices,
): Promise<Buffer | undefined> {
  const found = db.get(
    "select count(*) as parts, sum(length(bytes)) as bytes from parts where id = ?",
    id,
  );
  const bytes = Buffer.allocUnsafe(Number(found?.["bytes"] ?? 0));
  const sql = "select bytes from parts where id = ? and part = ?";
  let filled = 0;
  for (let part = 0; part < Number(found?.["parts"]); part++) {
    if (slices.isOver()) await slices.next();
    const piece = db.get(sql, id, part)?.["bytes"];
    if (!(piece instanceof Uint8Array)) return undefined;
    bytes.set(piece, filled);
    filled += piece.length;
  }
  return filled === 0 ? undefined : bytes;
}

/** Removes one draft that a crash left. False where there is none; true where there may be more. */
export async function removeLeftDraft(db: SqliteDatabase): Promise<boolean> {
  return isToBeSeenTo(db) && (await db.write("process", () => removeOne(db)));
}

/** Removes a left draft when a file is opened. A file that is locked or full is opened all the same. */
export function tryRemoveLeftDraft(db: SqliteDatabase): void {
  try {
    if (isToBeSeenTo(db)) db.transact(() => removeOne(db));
  } catch {
    // The next opening, or a sweep, does it.
  }
}

/** Matches drafts of another boot, or of an earlier one on a system that does not distinguish boots. */
const FOREIGN = "(boot is not ?1 or grew_ms > ?2)";

/** Asked without the lock that writers share. */
function isToBeSeenTo(db: SqliteDatabase): boolean {
  const nowMs = readMonotonicMs();
  const sql = `select 1 from drafts where ${FOREIGN} or grew_ms < ?3 limit 1`;
  return db.get(sql, readMonotonicBoot(), nowMs, nowMs - SILENT_MS) !== undefined;
}

/** Inside a transaction. */
function removeOne(db: SqliteDatabase): boolean {
  const nowMs = readMonotonicMs();
  db.run(`update drafts set boot = ?1, grew_ms = ?2 where ${FOREIGN}`, readMonotonicBoot(), nowMs);
  const left = db.get("select id from drafts where grew_ms < ? limit 1", nowMs - SILENT_MS);
  if (!left) return false;
  const id = String(left["id"]);
  db.run("delete from drafts where id = ?", id);
  db.run("delete from parts where id = ?", id);
  return true;
}
