/** Names of functions that every provider takes: letters, digits, `_` and `-`, 64 of them at most. */

import { createHash } from "node:crypto";

const MAX_CHARS = 64;
const HASH_CHARS = 8;

export interface Names {
  /** The name, or one like it that is not taken yet; it is taken from here on. */
  take(wish: string): string;
  /** The name as providers take it. */
  fit(wish: string): string;
}

export function createNames(taken: readonly string[]): Names {
  const used = new Set(taken);
  return {
    fit: fitName,
    take(wish) {
      let name = fitName(wish);
      for (let count = 2; used.has(name); count++) name = fitName(`${wish}_${count}`);
      used.add(name);
      return name;
    },
  };
}

/** What is cut or replaced is told apart by a hash of the whole. */
function fitName(wish: string): string {
  const plain = wish.replace(/[^a-zA-Z0-9_-]/g, "_");
  if (plain === wish && wish.length <= MAX_CHARS) return wish;
  const hash = createHash("sha256").update(wish).digest("hex").slice(0, HASH_CHARS);
  return `${plain.slice(0, MAX_CHARS - HASH_CHARS - 1)}_${hash}`;
}
