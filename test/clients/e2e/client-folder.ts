/** A folder for a program of a client's user: a repository, with the clients' packages installed. */

import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runShell, type Typed } from "../../e2e/shell.ts";

// From build/test/clients/e2e/ up to the checkout.
export const MODULES = fileURLToPath(
  new URL("../../../../test/clients/node_modules", import.meta.url),
);

/** Requests of a client to any other address, such as for updates, fail. */
const NOWHERE = "http://127.0.0.1:9";

export interface ClientFolder extends AsyncDisposable {
  readonly cwd: string;
  readonly home: string;
  /** Runs command lines, with the programs of the packages on the path. The first failure ends them. */
  run(script: string): Promise<Typed>;
}

export async function createClientFolder(): Promise<ClientFolder> {
  const root = await mkdtemp(join(tmpdir(), "offshoot-client-"));
  const home = join(root, "home");
  const cwd = join(root, "work");
  await mkdir(home);
  await mkdir(cwd);
  await symlink(MODULES, join(cwd, "node_modules"), "junction");
  spawnSync("git", ["init", "--quiet"], { cwd });
  const env = {
    PATH: [join(MODULES, ".bin"), process.env["PATH"]].join(delimiter),
    HTTPS_PROXY: NOWHERE,
    https_proxy: NOWHERE,
    NO_PROXY: "127.0.0.1",
  };
  return {
    cwd,
    home,
    run: (script) => runShell(`set -e\n${script}`, { cwd, home }, env),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}
