/**
 * Large values of the record in the table `parts`: pieces of 256 KB, a transaction each, so that a value of
 * any size neither holds up the event loop nor other writers.
 *
 * Parts are written before what refers to them. Until then they are named in `drafts`: whoever opens the file,
 * and a server's sweep, removes those that a crash left there. A writer whose draft was removed writes no more.
 */

import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import type { Slices } from "../../base/slices.ts";
import type { Database } from "./sqlite-database.ts";

/** Longer than anybody writes at one value. */
const DRAFT_SECONDS = 3600;

/** In bytes: the larger a part, the longer everybody waits for it. */
const PART_BYTES = 256 * 1024;

/** Returns the name of the parts. Holds one part at a time. */
export async function writeParts(
  db: Database,
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
        const isThere = db.run(INSERT_PART, id, part, bytes) > 0;
        if (!isThere) throw new Failure("store_busy", TOO_LATE);
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

const INSERT_PART = `insert into parts (id, part, bytes)
  select ?1, ?2, ?3 where exists (select 1 from drafts where id = ?1)`;

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
export function keepParts(db: Database, id: string, isReferred: boolean): void {
  const isDraft = db.run("delete from drafts where id = ?", id) > 0;
  // It was taken for what a crash left, and its parts with it.
  if (isReferred && !isDraft) throw new Failure("store_busy", TOO_LATE);
  if (!isReferred) db.run("delete from parts where id = ?", id);
}

/** Of what could not be written. */
export async function dropParts(db: Database, id: string): Promise<void> {
  try {
    await db.write("process", () => keepParts(db, id, false));
  } catch {
    // What made the writing fail is thrown by the caller; the next start removes them.
  }
}

/** All of them as one; undefined where they were removed meanwhile. */
export async function readParts(
  db: Database,
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

/** Removes what processes left that ended in the middle of writing. */
export function forgetOldDrafts(db: Database): void {
  const old = `created_at_ms < (unixepoch() - ${DRAFT_SECONDS}) * 1000`;
  if (!db.get(`select 1 from drafts where ${old} limit 1`)) return;
  try {
    db.transact("process", () => {
      db.run(`delete from parts where id in (select id from drafts where ${old})`);
      db.run(`delete from drafts where ${old}`);
    });
  } catch {
    // Another process writes, or the disk is full: the next start does it.
  }
}
