/**
 * The environment of a command: an allow-list, never the process's own. A variable that is not named here
 * does not exist for the command, so an unexpected key stays in this process.
 */

import type { Environment } from "../../base/environment.ts";
import { findSecrets } from "../../base/redact.ts";

/** Variables that programs need to find files and to print text. None of them gives access to anything. */
const NAMES: ReadonlySet<string> = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TMPDIR",
  "TERM",
  "COLORTERM",
  "LANG",
  "LANGUAGE",
  "TZ",
  // Folders in which version managers and compilers keep their programs.
  "PYENV_ROOT",
  "NVM_DIR",
  "VOLTA_HOME",
  "ASDF_DATA_DIR",
  "MISE_DATA_DIR",
  "RUSTUP_HOME",
  "GOROOT",
  "JAVA_HOME",
]);

const STANDARD_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/** A shorter secret may be part of an innocent value by chance. */
const MIN_PART_CHARS = 12;

/** The variables for a command. `named` are passed whatever their values: the configuration names them. */
export function commandVariables(
  env: Environment,
  named: readonly string[] = [],
): Record<string, string> {
  const secrets = findSecrets(env).filter((secret) => secret !== "");
  const known = Object.entries(env).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    if (named.includes(name)) return [[name, value]];
    const isAllowed = NAMES.has(name) || name.startsWith("LC_");
    return isAllowed && !holdsSecret(value, secrets) ? [[name, value]] : [];
  });
  const variables: Record<string, string> = Object.fromEntries(known);
  return { ...variables, PATH: toAbsolutePath(variables["PATH"]) };
}

/** Drops relative folders of `PATH`, which would turn files of the workspace into programs. */
function toAbsolutePath(path = ""): string {
  const folders = path.split(":").filter((folder) => folder.startsWith("/"));
  return folders.length > 0 ? folders.join(":") : STANDARD_PATH;
}

function holdsSecret(value: string, secrets: readonly string[]): boolean {
  return secrets.some(
    (secret) => value === secret || (secret.length >= MIN_PART_CHARS && value.includes(secret)),
  );
}
