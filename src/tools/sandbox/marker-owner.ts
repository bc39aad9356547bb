/**
 * Who put a marker into a shared folder, and whether that process is gone.
 *
 * A process number means nothing in another namespace (a container with the same folder mounted) or after a
 * restart of the machine, and is used again. So a mark has the namespace, the start of the machine and the
 * start of the process too. If those are not ours, only its age counts.
 */

import { readFileSync, readlinkSync } from "node:fs";
import { systemClock } from "../../base/clock.ts";

/** No command runs this long, so a marker of an unknown process is left alone until then. */
const FOREIGN_MS = 24 * 60 * 60 * 1000;

let mine: string | undefined;

/** The mark of this process: `SPACE-PID-START`. */
export function ownerMark(): string {
  mine ??= `${space()}-${process.pid}-${startOf(process.pid) ?? 0}`;
  return mine;
}

/** True if the owner of a mark has ended. `mark` ends in the owner; `madeMs` is when the marker was made. */
export function isOwnerGone(mark: string, madeMs: number, nowMs = systemClock.now()): boolean {
  const [where = "", pid = "", start = "", ...rest] = mark.split("-");
  // Marks of older versions are only the process number.
  if (rest.length === 0) return startOf(Number(where)) === undefined;
  if (where === space()) return startOf(Number(pid)) !== start;
  return nowMs - madeMs > FOREIGN_MS;
}

let known: string | undefined;

/** This start of this machine, and the namespace in which process numbers are ours. */
function space(): string {
  known ??= `${readBoot().slice(0, 8)}${readNamespace()}`;
  return known;
}

function readBoot(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "unknown";
  }
}

function readNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  } catch {
    return "0";
  }
}

/** When a process started, in ticks of the machine; undefined if the process does not exist. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name may contain anything; the start is the 20th field after it.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
