/** Which levels of the sandbox this machine can give, for `offshoot doctor`. */

import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFailure } from "../../base/failure.ts";
import type { Variables } from "./environment.ts";
import { openSandbox } from "./open-sandbox.ts";
import type { SandboxLevel } from "./sandbox.ts";

export interface SandboxProbe {
  /** From the weakest to the strongest. */
  readonly levels: readonly SandboxLevel[];
  /** Why `sandbox` is not among them and how to get it; undefined when it is. */
  readonly problem: string | undefined;
}

/** Really opens the strongest level, in an empty folder. */
export async function probeSandbox(env: Variables): Promise<SandboxProbe> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "offshoot-probe-")));
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
