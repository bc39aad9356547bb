/**
 * Ends a command when it and all that it started use more than they may together. It looks ten times a
 * second at the processes and less often at the folder and at what is mapped where that takes long, so what is over a limit is so for a moment: the
 * limits of each process (`limits.ts`) hold what one can take in that time.
 */

import { systemClock } from "../../base/clock.ts";
import { measureFolder } from "./folder-walk.ts";
import { findMapped, type RemovedFile } from "./mapped-files.ts";
import { findDescendants, measureProcesses } from "./process-use.ts";
import { type Excess, type FolderUse, findExcess, type Totals } from "./totals.ts";

const LOOK_MS = 100;

/** The folder is walked again after so many times of what the last walk took, and not sooner than this. */
const WALK_PAUSE_MS = 400;
const WALK_PAUSE_FACTOR = 10;

/** The same for the lists of what is mapped: some 50 ms for a hundred processes. */
const MAPS_PAUSE_FACTOR = 10;

export interface WatchParts {
  /** Of the command; all others are found below it. */
  readonly pid: number;
  readonly folder: string;
  readonly memoryFolders: readonly string[];
  readonly totals: Totals;
  /** Called once, when there is too much of something. */
  end(): void;
}

export interface Watch {
  exceeded(): Excess | undefined;
  /** Looks at the folder a last time. Called when nothing of the command runs any more. */
  stop(): Promise<void>;
}

/** Whoever starts it stops it. */
export function watchTotals(parts: WatchParts): Watch {
  const { totals, folder } = parts;
  const most = { bytes: totals.diskBytes, entries: totals.entries };
  let excess: Excess | undefined;
  let walked: FolderUse | undefined;
  let walkAtMs = 0;
  let walking: Promise<void> | undefined;
  let mapped: readonly RemovedFile[] = [];
  let mapAtMs = 0;
  let mapping: Promise<void> | undefined;

  async function map(): Promise<void> {
    const startMs = systemClock.now();
    mapped = await findMapped(findDescendants(parts.pid));
    mapAtMs = startMs + (systemClock.now() - startMs) * MAPS_PAUSE_FACTOR;
    mapping = undefined;
    judge(measure());
  }

  const measure = (): ReturnType<typeof measureProcesses> => {
    const { pid, memoryFolders } = parts;
    return measureProcesses({
      pid,
      folder,
      memoryFolders,
      mapped,
      memoryBytes: totals.memoryBytes,
    });
  };

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
