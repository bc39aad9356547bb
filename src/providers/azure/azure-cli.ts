/** A token from the login of a person: `az account get-access-token`. */

import { Failure } from "../../base/failure.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What `az` needs to find itself, its login and the network. No key of anybody else's is told to it. */
const VARIABLES =
  /^(PATH|PATHEXT|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SYSTEMROOT|TEMP|TMP|LANG|LC_ALL|AZURE_CONFIG_DIR|AZURE_EXTENSION_DIR|REQUESTS_CA_BUNDLE|(https?|no|all)_proxy)$/i;

/** It starts Python, and may refresh the login over the network. */
const LIMIT_MS = 30_000;

/** What it prints, as text. Rejects with one line that says why there is no token. */
export async function readAzureCli(resource: string, env: Environment): Promise<string> {
  if (!/^[\w.:/-]+$/.test(resource)) {
    throw new Failure("invalid_request", "`AZURE_SCOPE` has signs that no scope has.");
  }
  const { execFile } = await import("node:child_process");
  const told = Object.entries(env).filter(([name]) => VARIABLES.test(name));
  const isWindows = process.platform === "win32";
  return await new Promise((resolve, reject) => {
    execFile(
      isWindows ? "az.cmd" : "az",
      ["account", "get-access-token", "--output", "json", "--resource", resource],
      {
        env: Object.fromEntries(told),
        // Not in the folder of a project, where another `az` could lie.
        cwd: isWindows ? env["SYSTEMROOT"] : "/",
        // Windows starts no `.cmd` otherwise; the words have no sign that a shell reads.
        shell: isWindows,
        ...LIMITS,
      },
      (cause, stdout) => (cause ? reject(toFailure(cause)) : resolve(stdout)),
    );
  });
}

const LIMITS = { timeout: LIMIT_MS, maxBuffer: 1024 * 1024, windowsHide: true };

function toFailure(cause: Error & { readonly code?: unknown }): Failure {
  const isMissing = cause.code === "ENOENT";
  const message = isMissing
    ? "`az` is not installed."
    : "`az account get-access-token` gives no token: it may want a login.";
  return new Failure("key_missing", message, { cause });
}
