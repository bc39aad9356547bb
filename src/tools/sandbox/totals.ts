/**
 * What a command and all that it starts may use together. A limit of the system holds for each process
 * or each file, and there may be any number of those.
 */
export interface Totals {
  /** Of all processes, with the files that they keep in memory. */
  readonly memoryBytes: number;
  /** Of the workspace, with files that were removed and are still open. */
  readonly diskBytes: number;
  /** Files and folders of the workspace. */
  readonly entries: number;
  /** Processes and threads. */
  readonly tasks: number;
}

export interface ProcessUse {
  readonly memoryBytes: number;
  readonly tasks: number;
  /** Of removed files on the workspace's disk that are still open. */
  readonly openBytes: number;
}

export interface FolderUse {
  readonly bytes: number;
  readonly entries: number;
  /** Whether all of it could be looked at. */
  readonly isWhole: boolean;
}

/** What was used up, and a sentence about it for whoever ran the command. */
export interface Excess {
  readonly of: "memory" | "tasks" | "disk";
  readonly message: string;
}

/** The first thing that is over its limit, if any is. */
export function findExcess(
  totals: Totals,
  processes: ProcessUse | undefined,
  folder: FolderUse | undefined,
): Excess | undefined {
  const { memoryBytes = 0, tasks = 0, openBytes = 0 } = processes ?? {};
  const { bytes = 0, entries = 0, isWhole = true } = folder ?? {};
  const disk = (what: string): Excess => ({ of: "disk", message: `Stopped: ${what}.` });
  if (memoryBytes > totals.memoryBytes) return memoryExcess(totals);
  if (tasks > totals.tasks) return tasksExcess(totals);
  if (bytes + openBytes > totals.diskBytes) {
    return disk(`its files took more of the disk than the limit of ${toSize(totals.diskBytes)}`);
  }
  if (entries > totals.entries) {
    return disk(`it made more files and folders than the limit of ${totals.entries}`);
  }
  if (isWhole) return undefined;
  return disk("it made folders that cannot be looked into, so its use of the disk is unknown");
}

export function memoryExcess({ memoryBytes }: Totals): Excess {
  const limit = toSize(memoryBytes);
  const message = `Stopped: its processes used more memory together than the limit of ${limit}.`;
  return { of: "memory", message };
}

function tasksExcess({ tasks }: Totals): Excess {
  const message = `Stopped: it ran more processes and threads at once than the limit of ${tasks}.`;
  return { of: "tasks", message };
}

const UNITS = ["bytes", "KiB", "MiB", "GiB"];

function toSize(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  return `${Math.round((bytes / 1024 ** power) * 10) / 10} ${UNITS[power]}`;
}
