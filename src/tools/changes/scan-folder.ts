/**
 * Scans the files of a workspace at one moment, to see what a command changed. The words of a command do
 * not tell what it writes, so the whole folder is compared, within limits: entries are listed breadth
 * first, and small files are held in memory until the command has ended. Unchanged files are not read
 * again.
 */

import { type BigIntStats, lstatSync } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type FileState, NOTHING_THERE, UNWATCHED_FOLDERS } from "../../protocol/file-changes.ts";
import { findProtection, isSensitive } from "../workspace/protected.ts";
import type { FileStates, SeenFile } from "./file-states.ts";

/**
 * The most entries. Each is read once, before the first command: 4,000 small files take some tenths of a
 * second.
 */
const MAX_ENTRIES = 4_000;
/** The most bytes of one file, and of all files, that are held while a command runs. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
/** How many entries are read in one go, which takes about a millisecond. */
const ENTRIES_A_TURN = 200;
/**
 * The clock of a file system may be this slow: a file that changed just before the scan may change again
 * with the same time.
 */
const CLOCK_TICK_MS = 50n;

export interface Scan {
  readonly entries: ReadonlyMap<string, Entry>;
  /** Why the scan is incomplete; undefined if it is complete. */
  readonly missed: string | undefined;
}

interface Entry extends SeenFile {
  /** The file's attributes from the system. If they differ, the file has changed. */
  readonly mark: string;
  /** True if it changed so shortly before the scan that equal marks prove nothing. */
  readonly isFresh: boolean;
}

const SKIPPED: ReadonlySet<string> = new Set(UNWATCHED_FOLDERS);

/** Scans the folder. Content of files that have not changed is taken from `before`. */
export async function scanFolder(
  states: FileStates,
  nowMs: () => number,
  before?: Scan,
): Promise<Scan> {
  const entries = new Map<string, Entry>();
  const budget = { bytes: MAX_TOTAL_BYTES };
  for await (const path of listPaths(states, entries)) {
    if (entries.size >= MAX_ENTRIES) {
      return { entries, missed: `the folder has more than ${MAX_ENTRIES} entries` };
    }
    const known = before?.entries.get(path);
    const entry = await lookAt(states, path, { known, budget, nowMs: nowMs() });
    if (entry) entries.set(path, entry);
    if (entries.size % ENTRIES_A_TURN === 0) await nextTurn();
  }
  return { entries, missed: undefined };
}

/** Lists breadth first, and enters the folders among the entries, which the caller adds meanwhile. */
async function* listPaths(
  states: FileStates,
  entries: ReadonlyMap<string, Entry>,
): AsyncGenerator<string> {
  const queue = [""];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const name of await listNames(states, at)) {
      const path = at === "" ? name : `${at}/${name}`;
      if (findProtection(path) !== undefined) continue;
      yield path;
      if (entries.get(path)?.state.kind === "folder" && !SKIPPED.has(name)) queue.push(path);
    }
  }
}

async function listNames({ root, hold }: FileStates, folder: string): Promise<string[]> {
  const place = folder === "" ? root : `${root}/${folder}`;
  // A folder that was removed or cannot be read has nothing to compare.
  return (await hold.inFolder(place, folder, (base) => readdir(base)).catch(() => [])).sort();
}

interface Looking {
  readonly known: Entry | undefined;
  readonly budget: { bytes: number };
  readonly nowMs: number;
}

async function lookAt(
  states: FileStates,
  path: string,
  { known, budget, nowMs }: Looking,
): Promise<Entry | undefined> {
  const stats = readStats(`${states.root}/${path}`);
  if (!stats) return undefined;
  const mark = [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs, stats.mode].join(" ");
  const changedMs = stats.ctimeNs / 1_000_000n;
  const isFresh = BigInt(Math.floor(nowMs)) - changedMs < CLOCK_TICK_MS;
  if (known && known.mark === mark && !known.isFresh) {
    budget.bytes -= known.content?.length ?? 0;
    return known;
  }
  const seen = await readEntry(states, { path, stats, maxBytes: toRoom(budget, path) });
  budget.bytes -= seen.content?.length ?? 0;
  return { ...seen, mark, isFresh };
}

/** Files with keys are compared but not held, because they are never kept. */
function toRoom({ bytes }: { readonly bytes: number }, path: string): number {
  return isSensitive(path) ? 0 : Math.min(MAX_FILE_BYTES, Math.max(bytes, 0));
}

interface Reading {
  readonly path: string;
  readonly stats: BigIntStats;
  readonly maxBytes: number;
}

/** Reads one entry. A file that is too large is not read: its mark says whether it changed. */
async function readEntry(
  states: FileStates,
  { path, stats, maxBytes }: Reading,
): Promise<SeenFile> {
  const mode = Number(stats.mode) & 0o777;
  if (stats.isDirectory()) return { state: { kind: "folder", mode }, content: undefined };
  if (stats.isSymbolicLink()) {
    const target = await readlink(`${states.root}/${path}`).catch(() => "");
    return { state: { kind: "link", target }, content: undefined };
  }
  if (!stats.isFile()) return { state: { kind: "other" }, content: undefined };
  const bytes = Number(stats.size);
  const unread: SeenFile = {
    state: { kind: "file", mode, bytes, sha256: null },
    content: undefined,
  };
  if (bytes > MAX_FILE_BYTES || maxBytes < bytes) return unread;
  return await states.look(path, maxBytes).catch(() => unread);
}

/** Synchronous: 3 µs each, and twenty times that through the thread pool. */
function readStats(place: string): BigIntStats | undefined {
  return lstatSync(place, { bigint: true, throwIfNoEntry: false });
}

export interface Difference {
  readonly path: string;
  readonly before: SeenFile;
  readonly after: FileState;
}

/** The differences between two scans, folders before their entries. */
export function compareScans(before: Scan, after: Scan): Difference[] {
  const differences: Difference[] = [];
  const paths = new Set([...before.entries.keys(), ...after.entries.keys()]);
  for (const path of [...paths].sort()) {
    const old = before.entries.get(path);
    const now = after.entries.get(path);
    if (isUnchanged(old, now)) continue;
    // Beyond the limits of the other scan, its state is not known.
    if ((!old && before.missed) || (!now && after.missed)) continue;
    const seen = old ?? { state: NOTHING_THERE, content: undefined };
    differences.push({ path, before: seen, after: now?.state ?? NOTHING_THERE });
  }
  return differences;
}

function isUnchanged(old: Entry | undefined, now: Entry | undefined): boolean {
  if (!old || !now) return false;
  if (old.state.kind !== now.state.kind) return false;
  if (old.state.kind === "folder" || old.state.kind === "other") return true;
  if (old.state.kind === "file" && now.state.kind === "file") {
    const one = old.state;
    const other = now.state;
    if (one.sha256 === null || other.sha256 === null) return old.mark === now.mark;
    return one.sha256 === other.sha256 && one.mode === other.mode;
  }
  return JSON.stringify(old.state) === JSON.stringify(now.state);
}
