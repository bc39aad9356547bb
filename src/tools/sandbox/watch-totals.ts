/**
 * Ends a command when it and everything that it started together exceed a limit. It checks the processes
 * ten times a second, and the folder and the mapped files less often if that takes long. So a limit may be
 * exceeded for a moment; the limits of each process (`limits.ts`) bound how much that can be.
 */

import { systemClock } from "../../base/clock.ts";
import { measureFolder } from "./folder-walk.ts";
import { findMapped, type RemovedFile } from "./mapped-files.ts";
import { findDescendants, measureProcesses } from "./process-use.ts";
import { type ExceededTotal, type FolderUse, findExcess, type ResourceTotals } from "./totals.ts";

const LOOK_MS = 100;

/** The pause between two walks, as a multiple of the time of the last one, and its minimum. */
const WALK_PAUSE_MS = 400;
const WALK_PAUSE_FACTOR = 10;

/** The factor for reading the lists of mapped files: some 50 ms for a hundred processes. */
const MAPS_PAUSE_FACTOR = 10;

export interface WatchParts {
  /** The command's process; all others are found below it. */
  readonly pid: number;
  readonly folder: string;
  readonly memoryFolders: readonly string[];
  readonly totals: ResourceTotals;
  /** Called once, when a limit is exceeded. */
  end(): void;
}

export interface TotalsWatch {
  exceeded(): ExceededTotal | undefined;
  /** Checks the folder a last time. Called when nothing of the command runs any more. */
  stop(): Promise<void>;
}

/** The caller stops it. */
export function watchTotals(parts: WatchParts): TotalsWatch {
  const { totals, folder, pid, memoryFolders } = parts;
  const limited = { pid, folder, memoryFolders, memoryBytes: totals.memoryBytes };
  const most = { bytes: totals.diskBytes, entries: totals.entries };
  let excess: ExceededTotal | undefined;
  let walked: FolderUse | undefined;
  let walkAtMs = 0;
  let walking: Promise<void> | undefined;
  let mapped: readonly RemovedFile[] = [];
  let mapAtMs = 0;
  let mapping: Promise<void> | undefined;

  async function map(): Promise<void> {
    const startMs = systemClock.now();
    mapped = await findMapped(findDescendants(pid));
    mapAtMs = startMs + (systemClock.now() - startMs) * MAPS_PAUSE_FACTOR;
    mapping = undefined;
    judge(measure());
  }

  const measure = (): ReturnType<typeof measureProcesses> =>
    measureProcesses({ ...limited, mapped });

  async function walk(): Promise<void> {
    const startMs = systemClock.now();
    walked = await measureFolder(folder, most);
    const tookMs = systemClock.now() - startMs;
    walkAtMs = startMs + Math.max(WALK_PAUSE_MS, tookMs * WALK_PAUSE_FACTOR);
    walking = undefined;
    judge();
  }

  function judge(processes?: Parameters<typeof findExcess>[1]): void {
    if (excess !== undefined) return;
    excess = findExcess(totals, processes, walked);
    if (excess !== undefined) parts.end();
  }

  const timer = setInterval(() => {
    judge(measure());
    if (systemClock.now() >= mapAtMs) mapping ??= map();
    if (systemClock.now() >= walkAtMs) walking ??= walk();
  }, LOOK_MS);
  timer.unref();

  return {
    exceeded: () => excess,
    async stop() {
      clearInterval(timer);
      await Promise.all([mapping, walking]);
      await walk();
    },
  };
}
