/**
 * A control group of the system (cgroup v2), which limits the memory and the processes of everything that a
 * sandbox runs, at every moment.
 *
 * It is made beside this process's own group, if the system has given us control of that place and limits
 * memory and processes there; a group that contains processes itself cannot have such groups below it.
 * Otherwise only `watch-totals.ts` enforces the limits.
 */

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { type ExceededTotal, memoryExcess, type ResourceTotals } from "./totals.ts";

export interface ControlGroup {
  /** The command in a form that joins the group first, with everything it starts. */
  join(argv: readonly string[]): [string, ...string[]];
  /** The limit for which the system ended commands since the last call. */
  takeExcess(): ExceededTotal | undefined;
  /** Ends everything that still runs in it, and removes it. Never rejects. */
  close(): Promise<void>;
}

export interface GroupFiles {
  readonly mount: string;
  /** The system's description of this process's groups. */
  readonly own: string;
}

export const SYSTEM_GROUPS: GroupFiles = { mount: "/sys/fs/cgroup", own: "/proc/self/cgroup" };

/** The group in which ours can be made; undefined if there is none. */
export async function findGroupParent(files = SYSTEM_GROUPS): Promise<string | undefined> {
  const own = /^0::(\/.*)$/m.exec(await readOrNothing(files.own))?.[1];
  if (own === undefined || own === "/" || own.includes("..")) return undefined;
  const parent = dirname(join(files.mount, own));
  const limited = await readOrNothing(join(parent, "cgroup.subtree_control"));
  const controllers = limited.trim().split(/\s+/);
  return ["memory", "pids"].every((one) => controllers.includes(one)) ? parent : undefined;
}

/** Undefined if this process may not make a group. The caller closes it. */
export async function openControlGroup(
  totals: ResourceTotals,
  files = SYSTEM_GROUPS,
): Promise<ControlGroup | undefined> {
  const parent = await findGroupParent(files);
  if (parent === undefined) return undefined;
  const path = join(parent, `offshoot-${randomBytes(8).toString("hex")}`);
  try {
    await mkdir(path);
  } catch {
    // We may not change it.
    return undefined;
  }
  try {
    await writeFile(join(path, "memory.max"), String(totals.memoryBytes));
    await writeFile(join(path, "pids.max"), String(totals.tasks));
    await writeFile(join(path, "memory.oom.group"), "1");
    // Missing on a machine without swap.
    await writeFile(join(path, "memory.swap.max"), "0").catch(() => undefined);
    const group = createGroupAt(path, totals);
    const [program, ...words] = group.join(["true"]);
    await promisify(execFile)(program, words);
    return group;
  } catch {
    await removeGroup(path);
    return undefined;
  }
}

function createGroupAt(path: string, totals: ResourceTotals): ControlGroup {
  let ended = 0;
  return {
    join: (argv) => {
      const script = 'echo $$ > "$1" && shift && exec "$@"';
      return ["/bin/sh", "-c", script, "sh", join(path, "cgroup.procs"), ...argv];
    },
    takeExcess() {
      const before = ended;
      ended = countEnded(join(path, "memory.events"));
      return ended > before ? memoryExcess(totals) : undefined;
    },
    close: () => removeGroup(path),
  };
}

function countEnded(file: string): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, "latin1"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** The system removes a group only after the last process in it has gone. */
const MAX_ATTEMPTS = 100;
const PAUSE_MS = 10;

async function removeGroup(path: string): Promise<void> {
  await writeFile(join(path, "cgroup.kill"), "1").catch(() => undefined);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const isGone = await rmdir(path).then(
      () => true,
      (thrown: NodeJS.ErrnoException) => thrown.code !== "EBUSY",
    );
    if (isGone) return;
    await delay(PAUSE_MS);
  }
}

async function readOrNothing(path: string): Promise<string> {
  return await readFile(path, "utf8").catch(() => "");
}
