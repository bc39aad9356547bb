/** What a thread has had of the processor, and how it lets others go first. */

import { readFileSync } from "node:fs";
import { constants, getPriority, platform, setPriority } from "node:os";

/** Newer runtimes tell it themselves. */
type TellsThread = Partial<Record<"threadCpuUsage", () => NodeJS.CpuUsage>>;

/** Milliseconds of the processor that this thread has used; those of the whole process where the system does not tell. */
export function readThreadMs(): number {
  const { threadCpuUsage } = process as TellsThread;
  if (threadCpuUsage) return toMs(threadCpuUsage.call(process));
  return readSchedulerMs() ?? toMs(process.cpuUsage());
}

function toMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

function readSchedulerMs(): number | undefined {
  if (platform() !== "linux") return undefined;
  try {
    const [nanoseconds] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
    return Number(nanoseconds) / 1_000_000;
  } catch {
    // A kernel that keeps no such record.
    return undefined;
  }
}

/** At this distance a thread gets about a tenth of a processor that the event loop wants, too. */
const STEP = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Lets the event loop go first where the processors are all taken: called once in a thread that works on what a
 * stranger wrote. On Linux alone: elsewhere it would be the whole process that steps back.
 */
export function stepBack(): void {
  if (platform() !== "linux") return;
  try {
    setPriority(0, Math.min(getPriority(0) + STEP, constants.priority.PRIORITY_LOW));
  } catch {
    // A system that does not allow it goes on as it is.
  }
}
