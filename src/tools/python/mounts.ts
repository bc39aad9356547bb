/** What is copied into an interpreter when it starts. Files that usually hold secrets only by their names. */

import { isAbsolute, relative, resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { isSensitive } from "../workspace/protected.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Mount } from "./messages.ts";

/** All that is copied in; it goes through the interpreter's memory. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 2000;

/** Read through the workspace, so what it refuses is not copied either. */
export async function readMounts(workspace: Workspace, paths: readonly string[]): Promise<Mount[]> {
  const mounts: Mount[] = [];
  let left = MAX_BYTES;

  async function visit(path: string): Promise<void> {
    const names = await workspace.list(path).catch(() => undefined);
    if (!names) return copy(path);
    for (const name of names.map((one) => one.replace(/\/$/, ""))) {
      const inside = `${path}/${name}`;
      // By its own name, and by where it leads: a link may have another.
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
