/**
 * A folder is a git repository also without `.git`: when `HEAD`, `objects` and `refs` lie in it. A
 * command that makes those at the top of the workspace, with a `config` that names programs, has them
 * run by the user's next `git status`. So what makes a folder one is covered as `.git` is.
 *
 * `HEAD` alone decides: a `commondir` file puts the others somewhere else. It is held only where there
 * is no `.git`, which wins over it; a folder of that name beside one would confuse `git log HEAD`.
 */

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What git obeys in a repository, or finds the rest by. */
const PARTS = [
  ...["HEAD", "config", "config.worktree", "commondir", "hooks", "info"],
  ...["objects", "packed-refs", "refs"],
];

/** Names at the top that commands must neither change nor make. */
export function bareRepositoryNames(root: string): readonly string[] {
  if (kindOf(join(root, ".git")) === "repository") return [];
  return isHead(join(root, "HEAD")) ? PARTS : ["HEAD"];
}

/** A placeholder for `.git` is an empty folder, or holds markers alone. */
function kindOf(path: string): "repository" | "nothing" {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return "nothing";
  if (stats.isFile()) return "repository";
  return lstatSync(join(path, "HEAD"), { throwIfNoEntry: false }) ? "repository" : "nothing";
}

/** A branch or a commit, as git writes it there; a link leads to a branch. */
function isHead(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) return true;
  if (!stats?.isFile() || stats.size > MAX_HEAD_BYTES) return false;
  try {
    return /^(?:ref:|[0-9a-f]{40})/.test(readFileSync(path, "latin1"));
  } catch {
    // What cannot be read may be one.
    return true;
  }
}

const MAX_HEAD_BYTES = 4096;
