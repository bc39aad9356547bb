/** Gets a token from the login of a person by calling `az account get-access-token`. */

import { Failure } from "../../base/failure.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables that `az` needs to find itself, its login and the network. It gets no keys of other
 * vendors.
 */
const VARIABLES =
  /^(PATH|PATHEXT|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SYSTEMROOT|TEMP|TMP|LANG|LC_ALL|AZURE_CONFIG_DIR|AZURE_EXTENSION_DIR|REQUESTS_CA_BUNDLE|(https?|no|all)_proxy)$/i;

/** The time limit of `az`: it starts Python, and may refresh the login over the network. */
const LIMIT_MS = 30_000;

/** The standard output of `az`. Rejects with one line that says why there is no token. */
export async function readAzureCli(resource: string, env: Environment): Promise<string> {
  if (!/^[\w.:/-]+$/.test(resource)) {
    throw new Failure("invalid_request", "`AZURE_SCOPE` has characters that a scope cannot have.");
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
        // Not in the folder of a project, where another program named `az` could be.
        cwd: isWindows ? env["SYSTEMROOT"] : "/",
        // Windows starts a `.cmd` file only through a shell. The arguments have no character that a shell
        // interprets.
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
    : "`az account get-access-token` gives no token: maybe no user is logged in.";
  return new Failure("key_missing", message, { cause });
}
