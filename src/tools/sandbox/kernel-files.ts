/**
 * What a sandboxed command sees of `/proc` beside its own processes. The kernel lets user 0 change the
 * machine through these files without any capability, and some of them show what others do.
 *
 * A list of what stays: a kernel may have files that nobody here has heard of. All of it is read-only.
 */

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Hidden } from "./bubblewrap.ts";

const FOLDER = "/proc";

/** Figures about the machine that programs ask for, and links that lead to a process's own files. */
const SHOWN: ReadonlySet<string> = new Set([
  ...["cpuinfo", "loadavg", "meminfo", "stat", "swaps", "uptime", "version", "vmstat"],
  ...["cgroups", "filesystems", "sysvipc", "tty"],
]);

/** Settings: programs read limits there. */
const FIXED: ReadonlySet<string> = new Set(["sys"]);

export interface KernelFiles {
  readonly hidden: readonly Hidden[];
  readonly readOnly: readonly string[];
}

export function findKernelFiles(folder = FOLDER): KernelFiles {
  const hidden: Hidden[] = [];
  const readOnly: string[] = [];
  for (const name of readdirSync(folder)) {
    if (/^\d+$/.test(name) || SHOWN.has(name)) continue;
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    // Links lead to the files of whoever asks.
    if (!stats || stats.isSymbolicLink()) continue;
    const path = join(FOLDER, name);
    if (FIXED.has(name)) readOnly.push(path);
    else hidden.push({ path, isFolder: stats.isDirectory() });
  }
  return { hidden, readOnly };
}
