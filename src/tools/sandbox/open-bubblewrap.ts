/** The `sandbox` level on Linux: finds bubblewrap, tries it out, and puts commands into it. */

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { Failure } from "../../base/failure.ts";
import { isWithin } from "../../base/paths.ts";
import { clip } from "../../base/text.ts";
import { bubblewrapArguments, type View } from "./bubblewrap.ts";
import { type Covers, createCoverSearch } from "./covers.ts";
import type { Variables } from "./environment.ts";
import type { Holder, SandboxParts, Wrapped } from "./holder.ts";
import { readTasks, withLimits } from "./limits.ts";
import { viewLinux } from "./linux-view.ts";
import { holdPlace, type Placeholder } from "./placeholder.ts";
import { findProgram, linkedProgram } from "./programs.ts";
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
  const findCovers = createCoverSearch(parts);
  // Looked at anew for each command: the last one may have made what must be protected.
  const view = (covers: Covers): View =>
    viewLinux({
      root: parts.root,
      home: parts.env["HOME"],
      path,
      isWritable: parts.writable ?? true,
      hasNetwork: parts.network,
      covers,
      options,
    });
  await tryOut(program, view({ hidden: [], readOnly: [] }), parts.root);

  /** The placeholders come first: what is missing must be held before it is looked for. */
  async function wrapHeld(command: Command, places: readonly string[]): Promise<Wrapped> {
    const { readOnly, hidden } = await findCovers();
    const empty = places.map((place) => ({ path: place, isFolder: true }));
    const others = hidden.filter((one) => !places.includes(one.path));
    const seen = view({ readOnly, hidden: [...others, ...empty] });
    const { cwd, writes = [] } = command;
    const before = bubblewrapArguments(seen, { cwd, writes, reads: await readsOf(command, seen) });
    const argv = withLimits(command.argv, await readTasks());
    return {
      argv: [program, ...before, ...argv],
      env: { HOME: seen.home ?? "/tmp", TMPDIR: "/tmp" },
    };
  }

  async function readsOf(command: Command, seen: View): Promise<string[]> {
    const wanted = await Promise.all((command.reads ?? []).map((one) => realpath(one)));
    const shown = [...seen.folders, ...seen.programs, seen.root];
    const around = { home: seen.home, root: seen.root, seen: shown };
    const file = findProgram(command.argv[0], path, command.cwd);
    if (file === undefined) return wanted;
    if (!command.argv[0].includes("/")) return [...linkedProgram(file, around), ...wanted];
    await requireShown(file, [...shown, ...wanted, ...(command.writes ?? [])]);
    return wanted;
  }

  return {
    async wrap(command) {
      const places = await holdMissing(parts);
      const release = async (): Promise<void> => {
        await Promise.all(places.map((place) => place.release()));
      };
      try {
        const wrapped = await wrapHeld(
          command,
          places.map((place) => place.path),
        );
        return { ...wrapped, release };
      } catch (thrown) {
        await release();
        throw thrown;
      }
    },
    close: async () => undefined,
  };
}

/** One after the other: when one cannot be held, those before it are given back. */
async function holdMissing({
  root,
  hidden,
  readOnly = [],
  writable = true,
}: SandboxParts): Promise<Placeholder[]> {
  const held: Placeholder[] = [];
  const paths = [...hidden, ...readOnly].map((path) => resolve(root, path));
  try {
    for (const path of writable ? paths : []) {
      const place = isWithin(root, path) ? await holdPlace(path) : undefined;
      if (place) held.push(place);
    }
    return held;
  } catch (thrown) {
    await Promise.all(held.map((place) => place.release()));
    throw thrown;
  }
}

/** A model names programs by their paths too, and what it names must not be shown for it. */
async function requireShown(file: string, shown: readonly string[]): Promise<void> {
  const place = await realpath(file);
  if (shown.some((folder) => isWithin(folder, place))) return;
  const message = `\`${clip(file, 200)}\` lies outside the workspace: the sandbox shows programs that are the system's or on \`PATH\`.`;
  throw new Failure("forbidden", message);
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
