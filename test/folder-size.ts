/** Sizes of folders, for the numbers of README.md. */

import assert from "node:assert/strict";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readPage } from "./doc-blocks.ts";

/** The space that the files of a folder take on the disk, in MB. Links are not followed. */
export async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += (await sizeOf(path)) * 1_000_000;
    else bytes += (await lstat(path)).blocks * 512;
  }
  return bytes / 1_000_000;
}

/** A number of README.md is right if it is off by less than a quarter: machines have other packages and disks. */
export function checkNumber(pattern: RegExp, measured: number): void {
  const [shown = "", number] = pattern.exec(readPage("README.md")) ?? [];
  const isNear = Math.abs(Number(number) - measured) < measured / 4;
  assert.ok(isNear, `README says \`${shown}\`; measured: ${measured.toFixed(0)}`);
}
