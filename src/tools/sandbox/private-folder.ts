/** A private home and temporary folder for a run's commands. */

import { execFile } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeOwnFolder } from "./own-folder.ts";

const execute = promisify(execFile);

export interface PrivateFolder {
  readonly path: string;
  /** The variables that make it a command's home and temporary folder. */
  readonly env: { readonly HOME: string; readonly TMPDIR: string };
  close(): Promise<void>;
}

/** The caller closes it, which removes it with everything in it and never rejects. */
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
 * Uses the system's own program: commands may have created any number of folders, which would block this
 * process, or nested them deeper than a path can name. If even that cannot remove a file, the system clears
 * it with its temporary files.
 */
export async function removeFolder(path: string): Promise<void> {
  const removal = (): Promise<unknown> => execute("rm", ["-rf", "--", path], PLAIN);
  await removal()
    .catch(async () => {
      // Some tools keep their caches read-only, and nothing can be removed from a read-only folder.
      await execute("chmod", ["-R", "u+rwx", "--", path], PLAIN).catch(() => undefined);
      await removal();
    })
    .catch(() => rm(path, { recursive: true, force: true }).catch(() => undefined));
}

/** Without the user's settings, which could change what these programs do. */
const PLAIN = { env: { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" } };
