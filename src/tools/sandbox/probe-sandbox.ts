/** Finds the levels of the sandbox that this machine can provide, for `offshoot doctor`. */

import { rm } from "node:fs/promises";
import type { Environment } from "../../base/environment.ts";
import { toFailure } from "../../base/failure.ts";
import { findGroupParent } from "./control-group.ts";
import { openSandbox } from "./open-sandbox.ts";
import { makeOwnFolder } from "./own-folder.ts";
import type { SandboxLevel } from "./sandbox.ts";
import { seccompFilter } from "./seccomp.ts";

export interface SandboxProbe {
  /** From the weakest to the strongest. */
  readonly levels: readonly SandboxLevel[];
  /** Why `sandbox` is missing and how to get it; undefined if it is there. */
  readonly problem: string | undefined;
}

/** Properties of this machine that weaken the sandbox, for `offshoot doctor`. */
export interface SandboxGaps {
  /** True if this process is root, so that commands are, too. */
  readonly isRoot: boolean;
  /** True if there is a filter of system calls for this processor. */
  readonly hasFilter: boolean;
  /** True if the system itself enforces the limits of a hosted shell. */
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
export async function probeSandbox(env: Environment): Promise<SandboxProbe> {
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
