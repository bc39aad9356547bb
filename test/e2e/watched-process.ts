/** What a process uses while it works, from Linux: memory, open files, zombie children. */

import { readdirSync, readFileSync } from "node:fs";

export interface Held {
  /** The highest value of each that was seen. */
  readonly megabytes: number;
  readonly files: number;
  readonly children: number;
  readonly zombies: number;
}

export interface WatchedProcess {
  /** Reads the values once. A process that is gone uses nothing. */
  look(pid: number): void;
  readonly most: Held;
}

export function watchProcess(): WatchedProcess {
  let most: Held = { megabytes: 0, files: 0, children: 0, zombies: 0 };
  return {
    look(pid) {
      const now = readHeld(pid);
      if (!now) return;
      most = {
        megabytes: Math.max(most.megabytes, now.megabytes),
        files: Math.max(most.files, now.files),
        children: Math.max(most.children, now.children),
        zombies: Math.max(most.zombies, now.zombies),
      };
    },
    get most() {
      return most;
    },
  };
}

function readHeld(pid: number): Held | undefined {
  try {
    const [, kilobytes] =
      /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    const states = childrenOf(pid);
    return {
      megabytes: Number(kilobytes) / 1024,
      files: readdirSync(`/proc/${pid}/fd`).length,
      children: states.length,
      zombies: states.filter((state) => state === "Z").length,
    };
  } catch {
    return undefined;
  }
}

/** The states of the processes that it has started. */
function childrenOf(pid: number): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "latin1");
        const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return Number(parent) === pid ? [state] : [];
      } catch {
        return [];
      }
    });
}
