/** Which levels of the sandbox this machine can give, for `offshoot doctor`. */

import { rm } from "node:fs/promises";
import { toFailure } from "../../base/failure.ts";
import { findGroupParent } from "./control-group.ts";
import type { Variables } from "./environment.ts";
import { openSandbox } from "./open-sandbox.ts";
import { makeOwnFolder } from "./own-folder.ts";
import type { SandboxLevel } from "./sandbox.ts";
import { seccompFilter } from "./seccomp.ts";

export interface SandboxProbe {
  /** From the weakest to the strongest. */
  readonly levels: readonly SandboxLevel[];
  /** Why `sandbox` is not among them and how to get it; undefined when it is. */
  readonly problem: string | undefined;
}

/** What of this machine makes the sandbox weaker than it could be, for `offshoot doctor`. */
export interface SandboxGaps {
  /** Whether this process is root, so that commands are, too. */
  readonly isRoot: boolean;
  /** Whether there is a filter of system calls for this processor. */
  readonly hasFilter: boolean;
  /** Whether the system itself holds a hosted shell to its limits. */
  readonly hasGroup: boolean;
}

export async function probeGaps(): Promise<SandboxGaps> {
  const isLinux = process.platform === "linux";
  return {
    isRoot: process.getuid?.() === 0,
    hasFilter: !isLinux || seccompFilter(process.arch) !== undefined,
    hasGroup: isLinux && (await findGroupParent()) !== undefined,
  };
}

/** Really opens the strongest level, in an empty folder. */
export async function probeSandbox(env: Variables): Promise<SandboxProbe> {
  const root = await makeOwnFolder("probe");
  try {
    const sandbox = await openSandbox("sandbox", { root, env, network: false, hidden: [] });
    await sandbox.close();
    return { levels: ["none", "process", "sandbox"], problem: undefined };
  } catch (thrown) {
    return { levels: ["none", "process"], problem: toFailure(thrown).message };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
