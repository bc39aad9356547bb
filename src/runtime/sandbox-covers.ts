/**
 * Which paths of a workspace commands in its sandbox must not see, and which they must not change. Loaded by the first
 * command.
 */

import type { Environment } from "../base/environment.ts";
import { type Grant, leadsToGranted } from "../tools/gate/grant.ts";
import { matchesPath, type Rule } from "../tools/gate/rules.ts";
import { bareRepositoryNames } from "../tools/sandbox/bare-repository.ts";
import { findGitPaths, followGit } from "../tools/sandbox/git-paths.ts";
import type { EntryKind, SandboxParts } from "../tools/sandbox/holder.ts";
import { UNMADE } from "../tools/sandbox/placeholder.ts";
import { findProtection, isSensitive } from "../tools/workspace/protected.ts";

/** Version control must be read by its own commands; other protected paths are hidden from all commands. */
const VERSION_CONTROL = [".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul"];
const READ_ONLY: ReadonlySet<string> = new Set(VERSION_CONTROL);

/** Which paths of the workspace commands in the sandbox must not see, and which they must not change. */
export function toSandboxCovers(
  grant: Grant,
  rules: readonly Rule[],
): Pick<SandboxParts, "hidden" | "readOnly" | "isHidden" | "isReadOnly"> {
  const named = (verdict: Rule["verdict"]) => (path: string) =>
    rules.some(
      (rule) =>
        rule.verdict === verdict && rule.about === "path" && matchesPath(path, rule.pattern),
    );
  const isDenied = named("deny");
  const isAllowed = named("allow");
  const isSecret = (path: string, kind: EntryKind): boolean =>
    findProtection(path) !== undefined ||
    (kind === "file" && isSensitive(path) && !isAllowed(path));
  // Files in version control's folders have names of all kinds: a branch is a file.
  const isVersioned = (path: string): boolean =>
    path.split("/").some((name) => READ_ONLY.has(name));
  return {
    ...UNMADE,
    isHidden: (path, kind) =>
      isDenied(path) ||
      !leadsToGranted(grant, path) ||
      (isSecret(path, kind) && !isVersioned(path)),
    isReadOnly: (path) => READ_ONLY.has(path.slice(path.lastIndexOf("/") + 1)),
  };
}

/**
 * Files in the workspace that git obeys, besides `.git`: looked for before each command, because the last one may have
 * created them.
 */
export function gitCovers(
  root: string,
  env: Environment,
): Required<Pick<SandboxParts, "findReadOnly" | "leadsTo">> {
  return {
    findReadOnly: () => [...bareRepositoryNames(root), ...findGitPaths(root, env)],
    leadsTo: (path) => followGit(root, path, env),
  };
}
