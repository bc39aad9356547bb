/** The documents and recordings that lie beside the checkout, in `../shared`. */

import { existsSync, readdirSync, readFileSync } from "node:fs";

// From build/test/protocol/ up to the checkout, and to its neighbour.
const shared = new URL("../../../../shared/", import.meta.url);

export function readShared(path: string): string {
  return readFileSync(find(path), "utf8");
}

/** File names, sorted. */
export function listShared(path: string): string[] {
  return readdirSync(find(path)).sort();
}

function find(path: string): URL {
  const file = new URL(path, shared);
  if (existsSync(file)) return file;
  throw new Error(`${file.pathname} is missing: these tests need \`shared\` beside the checkout.`);
}
