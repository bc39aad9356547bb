/** A home and a place for temporary files that a run's commands have to themselves. */

import { execFile } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeOwnFolder } from "./own-folder.ts";

const execute = promisify(execFile);

export interface PrivateFolder {
  readonly path: string;
  /** The variables that make it a command's home and place for temporary files. */
  readonly env: { readonly HOME: string; readonly TMPDIR: string };
  close(): Promise<void>;
}

/** Whoever opens it closes it, which removes it with all that is in it and never rejects. */
export async function openPrivateFolder(tempDir = tmpdir()): Promise<PrivateFolder> {
  const path = await makeOwnFolder("home", { tempDir, remove: removeFolder });
  const env = { HOME: join(path, "home"), TMPDIR: join(path, "tmp") };
  await mkdir(env.HOME);
  await mkdir(env.TMPDIR);
  return { path, env, close: () => removeFolder(path) };
}

/**
 * Removes a folder that commands have filled; never rejects.
 *
 * By the system's own program: commands may have made any number of folders, which would hold up all
 * else in this process, or put them into each other deeper than a path can name. What cannot be removed
 * even so is left to the system, which clears its temporary files.
 */
export async function removeFolder(path: string): Promise<void> {
  const removal = (): Promise<unknown> => execute("rm", ["-rf", "--", path], PLAIN);
  await removal()
    .catch(async () => {
      // Some tools keep their caches read-only, and nothing can be removed from such a folder.
      await execute("chmod", ["-R", "u+rwx", "--", path], PLAIN).catch(() => undefined);
      await removal();
    })
    .catch(() => rm(path, { recursive: true, force: true }).catch(() => undefined));
}

/** No setting of the user's changes what these programs do. */
const PLAIN = { env: { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" } };
