/** Names of functions in the form that every provider accepts: letters, digits, `_` and `-`, 64 of them at most. */

import { createHash } from "node:crypto";

const MAX_CHARS = 64;
const HASH_CHARS = 8;

/** A name that is cut or changed gets a hash of the whole, to stay unique. Equal names give equal results. */
export function fitName(wish: string): string {
  const plain = wish.replace(/[^a-zA-Z0-9_-]/g, "_");
  if (plain === wish && wish.length <= MAX_CHARS) return wish;
  const hash = createHash("sha256").update(wish).digest("hex").slice(0, HASH_CHARS);
  return `${plain.slice(0, MAX_CHARS - HASH_CHARS - 1)}_${hash}`;
}
