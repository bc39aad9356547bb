/** A home and a place for temporary files that a run's commands have to themselves. */

import { chmod, mkdir, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PrivateFolder {
  readonly path: string;
  /** The variables that make it a command's home and place for temporary files. */
  readonly env: { readonly HOME: string; readonly TMPDIR: string };
  close(): Promise<void>;
}

/** Whoever opens it closes it, which removes it with all that is in it and never rejects. */
export async function openPrivateFolder(tempDir = tmpdir()): Promise<PrivateFolder> {
  const path = await realpath(await mkdtemp(join(tempDir, "offshoot-")));
  const env = { HOME: join(path, "home"), TMPDIR: join(path, "tmp") };
  await mkdir(env.HOME);
  await mkdir(env.TMPDIR);
  return { path, env, close: () => remove(path) };
}

/** What cannot be removed even so is left to the system, which clears its temporary files. */
async function remove(path: string): Promise<void> {
  const all = { recursive: true, force: true };
  await rm(path, all).catch(async () => {
    // Some tools keep their caches read-only, and nothing can be removed from such a folder.
    await unlock(path).catch(() => undefined);
    await rm(path, all).catch(() => undefined);
  });
}

async function unlock(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.filter((one) => one.isDirectory())) {
    await unlock(join(folder, entry.name));
  }
}
