/**
 * The files of `/proc` that a sandboxed command sees beside its own processes. The kernel lets user 0
 * change the machine through some of these files without any capability, and others show what other users
 * do.
 *
 * A list of the allowed ones, because a kernel may have files that are unknown here. All of them are
 * read-only.
 */

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Hidden, KernelFiles } from "./bubblewrap.ts";

const FOLDER = "/proc";

/** Figures about the machine that programs ask for, and links that lead to a process's own files. */
const SHOWN: ReadonlySet<string> = new Set([
  ...["cpuinfo", "loadavg", "meminfo", "stat", "swaps", "uptime", "version", "vmstat"],
  ...["cgroups", "filesystems", "sysvipc", "tty"],
]);

/** Settings, in which programs read limits. */
const FIXED: ReadonlySet<string> = new Set(["sys"]);

export function findKernelFiles(folder = FOLDER): KernelFiles {
  const hidden: Hidden[] = [];
  const readOnly: string[] = [];
  for (const name of readdirSync(folder)) {
    if (/^\d+$/.test(name) || SHOWN.has(name)) continue;
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    // Links lead to the files of the reading process.
    if (!stats || stats.isSymbolicLink()) continue;
    const path = join(FOLDER, name);
    if (FIXED.has(name)) readOnly.push(path);
    else hidden.push({ path, isFolder: stats.isDirectory() });
  }
  return { hidden, readOnly };
}
