/** Writes a small file whole or not at all: a crash in the middle leaves the old one. */

import { randomBytes } from "node:crypto";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "../base/make-folder.ts";

/**
 * Creates missing folders, with access for the user alone. A link is followed, and an existing mode
 * is kept.
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  makeFolder(dirname(path));
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (stats) => stats.mode & 0o777,
    () => 0o600,
  );
  const draft = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  const handle = await open(draft, "wx", mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await rename(draft, target);
  } catch (thrown) {
    await handle.close().catch(() => {});
    await rm(draft, { force: true });
    throw thrown;
  }
}
