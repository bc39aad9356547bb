/** The changes of a workspace, each inside a folder that is held open (`hold.ts`). */

import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { link, lstat, mkdir, open, rename, rmdir, unlink } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { Failure } from "../../base/failure.ts";
import type { FolderHold } from "./hold.ts";

interface NewContent {
  readonly content: string | Uint8Array;
  /** The replaced file, whose mode the new one gets. */
  readonly old: Stats | undefined;
}

/** Written beside it and renamed, so that a reader sees the old content or the new, never a part. */
export async function replaceFile(
  base: string,
  name: string,
  { content, old }: NewContent,
): Promise<void> {
  // Renaming would bypass a mode that forbids writing.
  if (old && (old.mode & 0o222) === 0) {
    throw new Failure("tool_failed", `File is read-only: ${name}`);
  }
  const draft = join(base, `.offshoot-${randomBytes(8).toString("hex")}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, old ? 0o600 : 0o666);
  try {
    try {
      await handle.writeFile(content);
      if (old) await handle.chmod(old.mode & 0o777);
    } finally {
      await handle.close();
    }
    await rename(draft, join(base, name));
  } catch (thrown) {
    // Best effort: the error matters more than a draft that stays.
    await unlink(draft).catch(() => undefined);
    throw thrown;
  }
}

interface MissingFolders {
  /** The existing folder above them. */
  readonly existing: string;
  readonly folder: string;
  /** The path as the model wrote it. */
  readonly path: string;
}

/** Creates one folder at a time, each in one that is held open. */
export async function makeMissing(hold: FolderHold, missing: MissingFolders): Promise<void> {
  const { existing, folder, path } = missing;
  const way = relative(existing, folder);
  if (way === "" || way.startsWith("..")) return;
  let at = existing;
  for (const name of way.split(sep)) {
    await hold.inFolder(at, path, (base) => mkdir(join(base, name)).catch(unlessThere));
    at = join(at, name);
  }
}

export async function removeEntry(base: string, name: string): Promise<void> {
  const entry = join(base, name);
  await ((await lstat(entry)).isDirectory() ? rmdir(entry) : unlink(entry));
}

/** Adds a second name and removes the first: unlike renaming, this replaces nothing. */
export async function moveEntry(from: string, to: string): Promise<void> {
  // Renaming a folder can only replace an empty folder.
  if (!(await lstat(from)).isFile()) return rename(from, to);
  try {
    await link(from, to);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw cause;
    // A disk without second names.
    return rename(from, to);
  }
  await unlink(from);
}

function unlessThere(cause: NodeJS.ErrnoException): void {
  if (cause.code !== "EEXIST") throw cause;
}
