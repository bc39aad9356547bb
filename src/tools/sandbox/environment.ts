/**
 * The environment of a command: an allow-list, never the process's own. What is not named here does
 * not exist for the command, so a key nobody thought of stays with us.
 */

import { findSecrets } from "../../base/redact.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** What programs need to find their way and to print text; none of them grants anything. */
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
  // Where version managers and compilers keep their programs.
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

/**
 * The variables that go to a command. `named` are let through whatever they hold: somebody wrote
 * their names into the configuration.
 */
export function commandVariables(
  env: Variables,
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

/** A folder of `PATH` that depends on where one is would make files of the workspace into programs. */
function toAbsolutePath(path = ""): string {
  const folders = path.split(":").filter((folder) => folder.startsWith("/"));
  return folders.length > 0 ? folders.join(":") : STANDARD_PATH;
}

function holdsSecret(value: string, secrets: readonly string[]): boolean {
  return secrets.some(
    (secret) => value === secret || (secret.length >= MIN_PART_CHARS && value.includes(secret)),
  );
}
