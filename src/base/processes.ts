/**
 * Processes as others can recognise them. A process id alone is not enough: it is used again, and every PID
 * namespace counts its own. Together with the boot, the namespace and the start time it names one process
 * for ever. Linux has all of that in `/proc`; elsewhere the parts are empty.
 */

import { readFileSync, readlinkSync } from "node:fs";

/** Where process ids and the monotonic clock have the same meaning. A part that is empty is unknown. */
export interface Machine {
  /** An id that changes with each start of the system. */
  readonly boot: string;
  /** The PID namespace, as the kernel numbers it. */
  readonly pidNamespace: string;
  /** The time namespace: in another one, monotonic time may be shifted. */
  readonly timeNamespace: string;
}

export function readMachine(): Machine {
  known ??= {
    boot: readText("/proc/sys/kernel/random/boot_id").trim(),
    pidNamespace: readNamespace("pid"),
    timeNamespace: readNamespace("time"),
  };
  return known;
}

let known: Machine | undefined;

/** The start time of a process, in the kernel's ticks since boot; empty if it is gone or unknown. */
export function readStartTime(pid: number): string {
  const stat = readText(`/proc/${pid}/stat`);
  // The name, in brackets, may contain anything. The start is the 20th field after it.
  const fields = stat
    .slice(stat.lastIndexOf(")") + 1)
    .trim()
    .split(" ");
  // A process that has ended stays in the list until its parent asks how it ended.
  return fields[0] === "Z" || fields[0] === "X" ? "" : (fields[19] ?? "");
}

/** True if a process of this number exists here, of any user. */
export function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // EPERM: it exists, and belongs to another user.
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}

/** Milliseconds that no change of the wall clock affects; the same for all processes of one boot. */
export function readMonotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/**
 * A name for the processes that share monotonic time: the boot and the time namespace. Empty if unknown.
 */
export function readMonotonicBoot(): string {
  const { boot, timeNamespace } = readMachine();
  return boot === "" ? "" : `${boot}/${timeNamespace}`;
}

/** `pid:[4026531836]` is how the kernel names it. */
function readNamespace(kind: "pid" | "time"): string {
  try {
    return /\d+/.exec(readlinkSync(`/proc/self/ns/${kind}`))?.[0] ?? "";
  } catch {
    return "";
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
