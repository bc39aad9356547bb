/**
 * Covers files that make a folder a git repository without `.git`: `HEAD`, `objects` and `refs`. If a
 * command creates these at the top of the workspace, with a `config` that names programs, the user's next
 * `git status` runs them. So they are covered like `.git`.
 *
 * `HEAD` alone decides: a `commondir` file moves the others elsewhere. It is covered only if there is no
 * `.git`, which comes first; a folder of that name beside a `.git` would confuse `git log HEAD`.
 */

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files that git obeys in a repository, or with which it finds the rest. */
const PARTS = [
  ...["HEAD", "config", "config.worktree", "commondir", "hooks", "info"],
  ...["objects", "packed-refs", "refs"],
];

/** Names at the top that commands may neither change nor create. */
export function bareRepositoryNames(root: string): readonly string[] {
  if (kindOf(join(root, ".git")) === "repository") return [];
  return isHead(join(root, "HEAD")) ? PARTS : ["HEAD"];
}

/** The kind of a path. A placeholder for `.git` is an empty folder, or contains only markers. */
function kindOf(path: string): "repository" | "nothing" {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return "nothing";
  if (stats.isFile()) return "repository";
  return lstatSync(join(path, "HEAD"), { throwIfNoEntry: false }) ? "repository" : "nothing";
}

/** True for a branch or a commit in the form in which git writes it; a link leads to a branch. */
function isHead(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) return true;
  if (!stats?.isFile() || stats.size > MAX_HEAD_BYTES) return false;
  try {
    return /^(?:ref:|[0-9a-f]{40})/.test(readFileSync(path, "latin1"));
  } catch {
    // A file that cannot be read may be one.
    return true;
  }
}

const MAX_HEAD_BYTES = 4096;
