/** What of a workspace commands in its sandbox do not see, and what they do not change. Loaded by the first command. */

import { type Grant, leadsToGranted } from "../tools/gate/grant.ts";
import { matchesPath, type Rule } from "../tools/gate/rules.ts";
import { bareRepositoryNames } from "../tools/sandbox/bare-repository.ts";
import { findGitPaths, followGit } from "../tools/sandbox/git-paths.ts";
import type { EntryKind, SandboxParts } from "../tools/sandbox/holder.ts";
import { UNMADE } from "../tools/sandbox/placeholder.ts";
import { findProtection, isSensitive } from "../tools/workspace/protected.ts";
import type { Environment } from "./paths.ts";

/** Version control must be read by its own commands; what else is protected is not there for any. */
const VERSION_CONTROL = [".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul"];
const READ_ONLY: ReadonlySet<string> = new Set(VERSION_CONTROL);

/** What of the workspace commands in the sandbox do not see, and what they do not change. */
export function toSandboxCovers(
  grant: Grant,
  rules: readonly Rule[],
): Pick<SandboxParts, "hidden" | "readOnly" | "isHidden" | "isReadOnly"> {
  const named = (verdict: Rule["verdict"]) => (path: string) =>
    rules.some(
      (rule) =>
        rule.verdict === verdict && rule.about === "path" && matchesPath(path, rule.pattern),
    );
  const [isDenied, isAllowed] = [named("deny"), named("allow")];
  const isSecret = (path: string, kind: EntryKind): boolean =>
    findProtection(path) !== undefined ||
    (kind === "file" && isSensitive(path) && !isAllowed(path));
  // What lies in version control's folders has names of all kinds: a branch is a file.
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

/** What git obeys in the workspace beside `.git`: looked for before each command, which may have made it. */
export function gitCovers(
  root: string,
  env: Environment,
): Required<Pick<SandboxParts, "findReadOnly" | "leadsTo">> {
  return {
    findReadOnly: () => [...bareRepositoryNames(root), ...findGitPaths(root, env)],
    leadsTo: (path) => followGit(root, path, env),
  };
}
