/**
 * The limits on a command and everything that it starts together. A limit of the system applies to each
 * process or each file, and there may be any number of those.
 */
export interface ResourceTotals {
  /** The memory of all processes, with the files that they keep in memory. */
  readonly memoryBytes: number;
  /** The disk space of the workspace, with files that were removed and are still open. */
  readonly diskBytes: number;
  /** The number of files and folders of the workspace. */
  readonly entries: number;
  /** The number of processes and threads. */
  readonly tasks: number;
}

export interface ProcessUse {
  readonly memoryBytes: number;
  readonly tasks: number;
  /** The bytes of removed files on the workspace's disk that are still open. */
  readonly openBytes: number;
}

export interface FolderUse {
  readonly bytes: number;
  readonly entries: number;
  /** True if all of it could be measured. */
  readonly isWhole: boolean;
}

/** The exceeded limit, and a sentence about it for the caller. */
export interface ExceededTotal {
  readonly of: "memory" | "tasks" | "disk";
  readonly message: string;
}

/** The first limit that is exceeded; undefined if none is. */
export function findExcess(
  totals: ResourceTotals,
  processes: ProcessUse | undefined,
  folder: FolderUse | undefined,
): ExceededTotal | undefined {
  const { memoryBytes = 0, tasks = 0, openBytes = 0 } = processes ?? {};
  const { bytes = 0, entries = 0, isWhole = true } = folder ?? {};
  const disk = (what: string): ExceededTotal => ({ of: "disk", message: `Stopped: ${what}.` });
  if (memoryBytes > totals.memoryBytes) return memoryExcess(totals);
  if (tasks > totals.tasks) return tasksExcess(totals);
  if (bytes + openBytes > totals.diskBytes) {
    return disk(`its files took more of the disk than the limit of ${toSize(totals.diskBytes)}`);
  }
  if (entries > totals.entries) {
    return disk(`it made more files and folders than the limit of ${totals.entries}`);
  }
  if (isWhole) return undefined;
  return disk("it made folders that cannot be read, so its use of the disk is unknown");
}

export function memoryExcess({ memoryBytes }: ResourceTotals): ExceededTotal {
  const limit = toSize(memoryBytes);
  const message = `Stopped: its processes used more memory together than the limit of ${limit}.`;
  return { of: "memory", message };
}

function tasksExcess({ tasks }: ResourceTotals): ExceededTotal {
  const message = `Stopped: it ran more processes and threads at once than the limit of ${tasks}.`;
  return { of: "tasks", message };
}

const UNITS = ["bytes", "KiB", "MiB", "GiB"];

function toSize(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  return `${Math.round((bytes / 1024 ** power) * 10) / 10} ${UNITS[power]}`;
}
