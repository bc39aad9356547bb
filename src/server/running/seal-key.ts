/**
 * The key that seals compactions, thoughts and fingerprints of a server. It is a file of the machine or, if several
 * machines share a record, a thing in the record: what one machine sealed, the others can open.
 */

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { openGrantKey } from "../../delegation/runner/grant-key.ts";
import { isPostgres, openKept } from "../../store/open-kept.ts";
import type { NewThing } from "../../store/shelf.ts";

const NAME = { tenant: "", kind: "seal", id: "key" };

export async function openSealKey(store: string | undefined, dataDir: string): Promise<Uint8Array> {
  if (store === undefined || !isPostgres(store)) return await openGrantKey(toFile(dataDir));
  const kept = await openKept(store);
  try {
    const shelf = await kept.shelf();
    const known = await shelf.get(NAME);
    if (known) return toBytes(known.body);
    const made = toThing(randomBytes(32));
    await shelf.put(made);
    // Another process may have stored its key first.
    return toBytes((await shelf.get(NAME))?.body ?? made.body);
  } finally {
    await kept.close();
  }
}

/** The key of this machine in the form for a shared record; undefined if the machine has none. */
export async function readSealThing(dataDir: string): Promise<NewThing | undefined> {
  const file = toFile(dataDir);
  return existsSync(file) ? toThing(await openGrantKey(file)) : undefined;
}

function toFile(dataDir: string): string {
  return join(dataDir, "seal.key");
}

function toThing(key: Buffer): NewThing {
  const times = { created_at_ms: systemClock.now(), expires_at_ms: null };
  return { ...NAME, parent: null, body: key.toString("base64"), ...times };
}

function toBytes(body: unknown): Uint8Array {
  return Buffer.from(String(body), "base64");
}
