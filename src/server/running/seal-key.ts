/**
 * The key that compactions, thoughts and fingerprints of a server are sealed with. It is a file of the machine, or,
 * where several machines share a record, in the record: what one of them sealed, the others open.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { openGrantKey } from "../../delegation/runner/grant-key.ts";
import { isPostgres, openKept } from "../../store/open-kept.ts";

const NAME = { tenant: "", kind: "seal", id: "key" };

export async function openSealKey(store: string | undefined, dataDir: string): Promise<Uint8Array> {
  if (store === undefined || !isPostgres(store))
    return await openGrantKey(join(dataDir, "seal.key"));
  const kept = await openKept(store);
  try {
    const shelf = await kept.shelf();
    const known = await shelf.get(NAME);
    if (known) return toBytes(known.body);
    const body = randomBytes(32).toString("base64");
    const times = { created_at_ms: systemClock.now(), expires_at_ms: null };
    await shelf.put({ ...NAME, parent: null, body, ...times });
    // Another may have been first.
    return toBytes((await shelf.get(NAME))?.body ?? body);
  } finally {
    await kept.close();
  }
}

function toBytes(body: unknown): Uint8Array {
  return Buffer.from(String(body), "base64");
}
