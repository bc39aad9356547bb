/**
 * The workspace: the folder a run works in, and the rule that no path leaves it.
 *
 * Both ends are resolved to real paths before they are compared, so a link out of the folder is
 * outside of it, whatever it is called.
 */

import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { Failure } from "../base/failure.ts";

/** The real path of something that exists inside the workspace. */
export async function resolveInside(root: string, path: string): Promise<string> {
  if (path.includes("\0")) throw new Failure("invalid_request", "A path has no NUL character.");
  const realRoot = await realpath(root);
  const wanted = resolve(root, path);
  // Told apart before the file is touched: what lies outside is not even looked for. A workspace
  // that is a link goes by both of its names.
  if (!isInside(resolve(root), wanted) && !isInside(realRoot, wanted)) throw outside(path);
  const real = await realpath(wanted).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT" || cause.code === "ENOTDIR") {
      throw new Failure("not_found", `File not found: ${path}`, { cause });
    }
    throw new Failure("tool_failed", `${path}: ${cause.code ?? cause.message}`, { cause });
  });
  if (!isInside(realRoot, real)) throw outside(path);
  return real;
}

function isInside(root: string, target: string): boolean {
  const way = relative(root, target);
  return way === "" || (way.split(sep, 1)[0] !== ".." && !isAbsolute(way));
}

function outside(path: string): Failure {
  return new Failure("invalid_request", `Path outside CWD not allowed: ${path}`);
}
