/**
 * Copies files into an interpreter when it starts. Files that usually contain secrets are copied only if
 * they are named.
 */

import { isAbsolute, relative, resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { isSensitive } from "../workspace/protected.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Mount } from "./messages.ts";

/** The limit for all copied files, because they go through the interpreter's memory. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 2000;

/** Reads through the workspace, so that what it refuses is not copied either. */
export async function readMounts(workspace: Workspace, paths: readonly string[]): Promise<Mount[]> {
  const mounts: Mount[] = [];
  let left = MAX_BYTES;

  async function visit(path: string): Promise<void> {
    const names = await workspace.list(path).catch(() => undefined);
    if (!names) return copy(path);
    for (const name of names.map((one) => one.replace(/\/$/, ""))) {
      const inside = `${path}/${name}`;
      // By its own name and by its target: a link may have another name.
      const { relative: real } = await workspace.locate(inside, "read");
      if (!isSensitive(name) && !isSensitive(real)) await visit(inside);
    }
  }

  async function copy(path: string): Promise<void> {
    if (mounts.length === MAX_FILES) {
      const message = `More than ${MAX_FILES} files are to be copied into Python: name fewer.`;
      throw new Failure("invalid_request", message);
    }
    const bytes = await workspace.readFile(path, left);
    left -= bytes.length;
    mounts.push({ path: toName(workspace.root, path), data: bytes.toString("base64") });
  }

  for (const path of paths) await visit(path);
  return mounts;
}

function toName(root: string, path: string): string {
  const name = relative(root, resolve(root, path));
  if (name !== "" && !name.startsWith("..") && !isAbsolute(name)) return name.replaceAll("\\", "/");
  throw new Failure(
    "forbidden",
    `\`${path}\` cannot be copied into Python: it is not in the workspace.`,
  );
}
