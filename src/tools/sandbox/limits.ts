/**
 * The operating system's own limits on a command, set by a line of shell that then becomes the command.
 * Everything it starts inherits them, and they cannot be raised again.
 */

import { readFile } from "node:fs/promises";

/** The memory of one process, counted as data, because engines reserve far more than they ever use. */
const MAX_MEMORY_KIB = 4 * 1024 * 1024;

/** The largest file: in blocks of 512 bytes, or of 1024 if `sh` is bash. */
const MAX_FILE_BLOCKS = 2 * 1024 * 1024;

/** More than a build of many parts needs at once. */
const MORE_TASKS = 1024;

/**
 * The command under limits. `tasks` is how many processes and threads run on the machine: the system counts
 * all of the user's together, so the limit is above them. The superuser has no limit on processes.
 */
export function withLimits(
  argv: readonly string[],
  tasks: number | undefined,
  memoryBytes = MAX_MEMORY_KIB * 1024,
): [string, ...string[]] {
  const most = tasks === undefined ? undefined : tasks + MORE_TASKS;
  const lines = [
    "ulimit -c 0",
    `ulimit -d ${Math.ceil(memoryBytes / 1024)}`,
    `ulimit -f ${MAX_FILE_BLOCKS}`,
    // The limit on processes is -u in bash, and -p in dash and BusyBox.
    ...(most === undefined ? [] : [`ulimit -u ${most} || ulimit -p ${most}`]),
  ];
  // A limit that is lower already cannot be set again, and need not be.
  const script = `{ ${lines.join("; ")}; } 2>/dev/null; exec "$@"`;
  return ["/bin/sh", "-c", script, "sh", ...argv];
}

/** How many processes and threads run, if the system says so. */
export async function readTasks(): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  return countTasks(await readFile("/proc/loadavg", "utf8"));
}

/** Reads the text of `/proc/loadavg`: `0.20 0.18 0.12 1/523 11206` has 523 tasks. */
export function countTasks(loadavg: string): number | undefined {
  const found = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(loadavg)?.[1];
  return found === undefined ? undefined : Number(found);
}
