/** A home and a place for temporary files that a run's commands have to themselves. */

import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PrivateFolder {
  readonly path: string;
  /** The variables that make it a command's home and place for temporary files. */
  readonly env: { readonly HOME: string; readonly TMPDIR: string };
  close(): Promise<void>;
}

/** Whoever opens it closes it, which removes it with all that is in it. */
export async function openPrivateFolder(tempDir = tmpdir()): Promise<PrivateFolder> {
  const path = await realpath(await mkdtemp(join(tempDir, "offshoot-")));
  const env = { HOME: join(path, "home"), TMPDIR: join(path, "tmp") };
  await mkdir(env.HOME);
  await mkdir(env.TMPDIR);
  return { path, env, close: () => rm(path, { recursive: true, force: true }) };
}
