/**
 * Measures what a process and all that descend from it use, read from `/proc`. In a namespace of their own
 * none gets away: an orphan becomes a child of the namespace's first process.
 *
 * Memory is the resident memory, counted once if it is shared, plus files that are in memory and belong to
 * no process, whose resident part is not counted twice. Memory that the kernel itself uses for them (pipes,
 * sockets) is not counted.
 */

import { readdirSync, readFileSync, readlinkSync, type Stats, statfsSync, statSync } from "node:fs";
import type { RemovedFile } from "./mapped-files.ts";
import type { ProcessUse } from "./totals.ts";

export interface UseParts {
  /** The first process. */
  readonly pid: number;
  /** The folder whose disk space counts. */
  readonly folder: string;
  /** Folders in memory, as the processes see them. */
  readonly memoryFolders: readonly string[];
  /** Above this it is worth asking which memory is shared, which takes the system longer. */
  readonly memoryBytes: number;
  /** Mapped files without a name, from the last search. */
  readonly mapped: readonly RemovedFile[];
}

export function measureProcesses(parts: UseParts): ProcessUse {
  const pids = findDescendants(parts.pid);
  const statuses = pids.map((pid) => readText(pid, "status"));
  const tasks = statuses.reduce((sum, status) => sum + readField(status, "Threads"), 0);
  const resident = sumResident(statuses);
  const files = measureFiles(pids, parts);
  const isClear = toMemory(resident, files.memoryBytes) <= parts.memoryBytes;
  const own = isClear ? resident : measureShared(pids, statuses);
  return { memoryBytes: toMemory(own, files.memoryBytes), openBytes: files.openBytes, tasks };
}

/** The memory in the tables of processes; `shared` is the part that belongs to files in memory. */
interface Resident {
  readonly bytes: number;
  readonly shared: number;
}

/**
 * A file in memory counts with its whole size. If more of such files is resident than was found, that
 * counts.
 */
function toMemory({ bytes, shared }: Resident, fileBytes: number): number {
  return bytes - shared + Math.max(shared, fileBytes);
}

function sumResident(statuses: readonly string[]): Resident {
  const sum = (name: string): number =>
    statuses.reduce((total, status) => total + readField(status, name) * 1024, 0);
  return { bytes: sum("VmRSS"), shared: sum("RssShmem") };
}

/** The process itself and those below it. */
export function findDescendants(pid: number): number[] {
  const found = [pid];
  for (const one of found) found.push(...childrenOf(one));
  return found;
}

function childrenOf(pid: number): number[] {
  const tasks = listFolder(`/proc/${pid}/task`);
  const texts = tasks.map((task) => readText(pid, `task/${task}/children`));
  return texts.join(" ").split(/\s+/).filter(Boolean).map(Number);
}

/** The shared part of each process's memory is divided among the processes that share it. */
function measureShared(pids: readonly number[], statuses: readonly string[]): Resident {
  const all = pids.map((pid, index) => {
    const rollup = readText(pid, "smaps_rollup");
    if (rollup === "") return sumResident([statuses[index] ?? ""]);
    const bytes = (name: string): number => readField(rollup, name) * 1024;
    return { bytes: bytes("Pss"), shared: bytes("Pss_Shmem") };
  });
  return {
    bytes: all.reduce((sum, one) => sum + one.bytes, 0),
    shared: all.reduce((sum, one) => sum + one.shared, 0),
  };
}

interface FileUse {
  readonly memoryBytes: number;
  readonly openBytes: number;
}

function measureFiles(pids: readonly number[], parts: UseParts): FileUse {
  const places = measurePlaces(pids, parts.memoryFolders);
  const disk = statOf(parts.folder)?.dev;
  const known = new Set<string>();
  let { bytes: memoryBytes } = places;
  let openBytes = 0;
  for (const file of [...pids.flatMap(openRemoved), ...parts.mapped]) {
    const name = `${file.device}:${file.inode}`;
    if (known.has(name) || places.devices.has(file.device)) continue;
    known.add(name);
    if (file.isMemory ?? file.device !== disk) memoryBytes += file.bytes;
    else openBytes += file.bytes;
  }
  return { memoryBytes, openBytes };
}

const BLOCK_BYTES = 512;

/** Reads the last process whose root differs from ours: the first may still be outside. */
function measurePlaces(
  pids: readonly number[],
  folders: readonly string[],
): { readonly bytes: number; readonly devices: ReadonlySet<number> } {
  const here = statOf("/")?.dev;
  const inside = pids.findLast((pid) => {
    const root = statOf(`/proc/${pid}/root/`);
    return root !== undefined && root.dev !== here;
  });
  const devices = new Set<number>();
  let bytes = 0;
  for (const folder of inside === undefined ? [] : folders) {
    const place = `/proc/${inside}/root${folder}`;
    const device = statOf(place)?.dev;
    if (device === undefined || devices.has(device)) continue;
    devices.add(device);
    bytes += usedOf(place);
  }
  return { bytes, devices };
}

/** Files without a name: removed ones, and memory that is passed on as a file. */
function openRemoved(pid: number): RemovedFile[] {
  return listFolder(`/proc/${pid}/fd`).flatMap((name) => {
    const path = `/proc/${pid}/fd/${name}`;
    const target = readLink(path);
    // Nothing else is read: a pipe or a socket is not a file, and a device might block.
    if (!target.endsWith(" (deleted)")) return [];
    const stats = statOf(path);
    if (!stats?.isFile() || stats.nlink > 0) return [];
    const bytes = stats.blocks * BLOCK_BYTES;
    return [{ device: stats.dev, inode: stats.ino, bytes, isMemory: undefined }];
  });
}

function readField(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
}

// Any of them may be gone by the time it is read.

function readText(pid: number, file: string): string {
  return attempt(() => readFileSync(`/proc/${pid}/${file}`, "latin1")) ?? "";
}

function listFolder(path: string): string[] {
  return attempt(() => readdirSync(path)) ?? [];
}

function readLink(path: string): string {
  return attempt(() => readlinkSync(path)) ?? "";
}

function statOf(path: string): Stats | undefined {
  return attempt(() => statSync(path));
}

function usedOf(path: string): number {
  const { bsize, blocks, bfree } = attempt(() => statfsSync(path)) ?? NOTHING;
  return (blocks - bfree) * bsize;
}

const NOTHING = { bsize: 0, blocks: 0, bfree: 0 };

function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
