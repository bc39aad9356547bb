/** The `sandbox` level on Linux: finds bubblewrap, tries it out, and puts commands into it. */

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { bubblewrapArguments, type View } from "./bubblewrap.ts";
import type { Variables } from "./environment.ts";
import type { Holder, SandboxParts } from "./holder.ts";
import { readTasks, withLimits } from "./limits.ts";
import { viewLinux } from "./linux-view.ts";
import { findProgram, installation, isWithin } from "./programs.ts";
import type { Command } from "./sandbox.ts";

const execute = promisify(execFile);

/** A first run takes some ten milliseconds; a machine that needs this long has another trouble. */
const TRIAL_LIMIT_MS = 10_000;

const OPTIONS = ["--disable-userns", "--size"];

/** Rejects with `Failure("invalid_request")` that says what is missing and how to get it. */
export async function openBubblewrap(parts: SandboxParts, variables: Variables): Promise<Holder> {
  const path = variables["PATH"] ?? "";
  const program = findBubblewrap(path, parts.root);
  const options = await readOptions(program);
  // Looked at anew for each command: the last one may have made what must be protected.
  const view = (): View =>
    viewLinux({
      root: parts.root,
      home: parts.env["HOME"],
      path,
      isWritable: parts.writable ?? true,
      hasNetwork: parts.network,
      hidden: parts.hidden,
      readOnly: parts.readOnly ?? [],
      options,
    });
  await tryOut(program, view(), parts.root);

  return {
    async wrap(command) {
      const seen = view();
      const reads = await readsOf(command, seen, path);
      const { cwd, writes = [] } = command;
      const argv = withLimits(command.argv, await readTasks());
      const env = { HOME: seen.home ?? "/tmp", TMPDIR: "/tmp" };
      return {
        argv: [program, ...bubblewrapArguments(seen, { cwd, reads, writes }), ...argv],
        env,
      };
    },
    close: async () => undefined,
  };
}

/** Not one that lies in the workspace: a command could have put it there. */
function findBubblewrap(path: string, root: string): string {
  const outside = path.split(":").filter((folder) => !isWithin(root, folder));
  const program = findProgram("bwrap", outside.join(":"), "/");
  if (program !== undefined) return program;
  throw unavailable(
    "bubblewrap is not installed",
    "Install it (`apt install bubblewrap`, `dnf install bubblewrap`, `pacman -S bubblewrap`)",
  );
}

async function readOptions(program: string): Promise<string[]> {
  const { stdout } = await execute(program, ["--help"], { timeout: TRIAL_LIMIT_MS, env: {} }).catch(
    (cause: Error) => {
      throw unavailable(`${program} does not run: ${clip(cause.message, 200)}`, "Install it anew");
    },
  );
  return OPTIONS.filter((option) => stdout.includes(`${option} `));
}

/** Starts nothing in it, with all the mounts a command gets: what the kernel refuses shows here. */
async function tryOut(program: string, view: View, root: string): Promise<void> {
  const before = bubblewrapArguments(view, { cwd: root, reads: [], writes: [] });
  const words = [...before, "/bin/sh", "-c", "exit 0"];
  await execute(program, words, { timeout: TRIAL_LIMIT_MS, env: {} }).catch((thrown: unknown) => {
    const { stderr = "" } = thrown as { readonly stderr?: string };
    throw unavailable(`bubblewrap cannot hold a command here (${clip(stderr, 200)})`, remedy());
  });
}

/** The switch of a distribution that keeps user namespaces from programs without a profile. */
const APPARMOR_SWITCH = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

function remedy(): string {
  if (existsSync(APPARMOR_SWITCH) && readFileSync(APPARMOR_SWITCH, "utf8").trim() === "1") {
    return "AppArmor keeps user namespaces from it: give bwrap a profile, or run `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`";
  }
  return "It needs user namespaces: see `sysctl user.max_user_namespaces`; in a container, the container must allow them";
}

function unavailable(why: string, how: string): Failure {
  const message = `The sandbox level \`sandbox\` is not available: ${why}. ${how}, or choose the level \`process\` or \`none\`.`;
  return new Failure("invalid_request", message, { param: "sandbox" });
}

/** What the tool asked for, and where the program itself is installed. */
async function readsOf(command: Command, view: View, path: string): Promise<string[]> {
  const program = findProgram(command.argv[0], path, command.cwd);
  const seen = [...view.folders, ...view.programs, view.root];
  const around = { home: view.home, root: view.root, seen };
  const real = program === undefined ? [] : [dirname(await realpath(program))];
  const folders = real.map((folder) => installation(folder, around));
  const unseen = folders.filter((folder) => !seen.some((one) => isWithin(one, folder)));
  const wanted = await Promise.all((command.reads ?? []).map((one) => realpath(one)));
  return [...unseen.filter((folder) => !isWithin(folder, view.root)), ...wanted];
}
