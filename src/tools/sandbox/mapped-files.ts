/**
 * Finds files without a name that processes have mapped. Shared memory is such a file: its pages remain
 * when no process has them in its tables any more. So is a file on disk that was removed and closed after
 * it was mapped. Neither shows in a process's resident memory or among its open files.
 *
 * Their true size is in `/proc/PID/map_files`, which needs root's rights over the whole machine
 * (`CAP_SYS_ADMIN` or `CAP_CHECKPOINT_RESTORE`). Without them the mapped part counts as the size.
 */

import { readFileSync, statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

export interface RemovedFile {
  readonly device: number;
  readonly inode: number;
  readonly bytes: number;
  /** True for the system's own shared memory; undefined if only `stat` was asked. */
  readonly isMemory: boolean | undefined;
}

const BLOCK_BYTES = 512;

/**
 * In turns, because a process may have tens of thousands of mappings. Files that vanish meanwhile are left
 * out.
 */
export async function findMapped(pids: readonly number[]): Promise<RemovedFile[]> {
  const found = new Map<string, RemovedFile>();
  for (const pid of pids) {
    for (const one of readMappings(pid)) {
      const known = found.get(one.name);
      // Asked once: the size is the file's, whichever process has mapped it.
      if (known && known.isMemory === undefined) continue;
      const file = statMapping(pid, one) ?? toGuess(one, known);
      found.set(one.name, file);
    }
    await nextTurn();
  }
  return [...found.values()];
}

interface Mapping {
  /** Device and inode, as in the list. */
  readonly name: string;
  readonly range: string;
  readonly device: number;
  readonly inode: number;
  readonly endBytes: number;
  readonly isMemory: boolean;
}

const LINE = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) ([0-9a-f]+):([0-9a-f]+) (\d+) +(.*)$/;

function readMappings(pid: number): Mapping[] {
  return readMaps(pid)
    .split("\n")
    .filter((line) => line.endsWith(" (deleted)"))
    .flatMap((line) => toMapping(line) ?? []);
}

/** Exported for its test: the numbers of a line are those that `stat` returns for the file. */
export function toMapping(line: string): Mapping | undefined {
  const match = LINE.exec(line);
  if (!match) return undefined;
  const [, from = "", to = "", offset = "", major = "", minor = "", inode = "", path = ""] = match;
  const hex = (text: string): number => Number.parseInt(text, 16);
  return {
    name: `${major}:${minor}:${inode}`,
    // The folder's names have no leading zeros.
    range: `${hexOf(from)}-${hexOf(to)}`,
    device: toDevice(hex(major), hex(minor)),
    inode: Number(inode),
    endBytes: hex(offset) + Number(BigInt(`0x${to}`) - BigInt(`0x${from}`)),
    isMemory: /^\/(?:dev\/zero \(deleted\)$|memfd:|SYSV)/.test(path),
  };
}

function hexOf(text: string): string {
  return text.replace(/^0+(?=.)/, "");
}

/** Joins the two numbers like the C library, below 4096 and 2^20. */
function toDevice(major: number, minor: number): number {
  return (minor & 0xff) + major * 256 + Math.floor(minor / 256) * 0x100000;
}

function statMapping(pid: number, { range }: Mapping): RemovedFile | undefined {
  try {
    const stats = statSync(`/proc/${pid}/map_files/${range}`);
    if (!stats.isFile()) return undefined;
    const bytes = stats.nlink === 0 ? stats.blocks * BLOCK_BYTES : 0;
    return { device: stats.dev, inode: stats.ino, bytes, isMemory: undefined };
  } catch {
    // Not allowed, or gone meanwhile.
    return undefined;
  }
}

function toGuess(
  { device, inode, endBytes, isMemory }: Mapping,
  known: RemovedFile | undefined,
): RemovedFile {
  return { device, inode, bytes: Math.max(endBytes, known?.bytes ?? 0), isMemory };
}

function readMaps(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, "latin1");
  } catch {
    return "";
  }
}
