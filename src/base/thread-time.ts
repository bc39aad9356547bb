/** The processor time of a thread, and how it lets others go first. */

import { readFileSync } from "node:fs";
import { constants, getPriority, platform, setPriority } from "node:os";

/** Newer versions of Node have this function. */
type TellsThread = Partial<Record<"threadCpuUsage", () => NodeJS.CpuUsage>>;

/**
 * The processor time that this thread has used, in milliseconds. It is that of the whole process if the
 * system does not tell them apart.
 */
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
    // This kernel keeps no such record.
    return undefined;
  }
}

/** With this step a thread gets about a tenth of a processor that the event loop also wants. */
const STEP = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Lowers the priority of this thread, so that the event loop goes first when all processors are busy.
 * Called once in a thread that works on input of strangers. Only on Linux: elsewhere it would affect the
 * whole process.
 */
export function stepBack(): void {
  if (platform() !== "linux") return;
  try {
    setPriority(0, Math.min(getPriority(0) + STEP, constants.priority.PRIORITY_LOW));
  } catch {
    // If the system does not allow it, the priority stays as it is.
  }
}
