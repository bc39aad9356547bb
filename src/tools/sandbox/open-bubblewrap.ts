/** The `sandbox` level on Linux: finds bubblewrap, tries it out, and runs commands in it. */

import { execFile } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Environment } from "../../base/environment.ts";
import { Failure } from "../../base/failure.ts";
import { isWithin } from "../../base/paths.ts";
import { clip } from "../../base/text.ts";
import { bubblewrapArguments, type Hidden, type KernelFiles, type View } from "./bubblewrap.ts";
import { type Covers, createCoverSearch } from "./covers.ts";
import { commandVariables } from "./environment.ts";
import type { HeldCommand, Holder, SandboxParts } from "./holder.ts";
import { type Inputs, openInputs } from "./inputs.ts";
import { readTasks, withLimits } from "./limits.ts";
import { viewLinux } from "./linux-view.ts";
import { clearPlaces, holdPlace, type Placeholder } from "./placeholder.ts";
import { findProgram, linkedProgram } from "./programs.ts";
import type { SandboxCommand } from "./sandbox.ts";

const execute = promisify(execFile);

/** A first run takes some ten milliseconds; a machine that needs this long has another problem. */
const TRIAL_LIMIT_MS = 10_000;

const OPTIONS = ["--disable-userns", "--size"];

/** Rejects with `Failure("invalid_request")` that says what is missing and how to get it. */
export async function openBubblewrap(parts: SandboxParts, variables: Environment): Promise<Holder> {
  const path = variables["PATH"] ?? "";
  const program = findBubblewrap(commandVariables(parts.env)["PATH"] ?? "", parts.root);
  const options = await readOptions(program);
  await clearPlaces(toPlaces(parts, parts.findReadOnly?.()));
  const inputs = await openInputs(parts);
  const findCovers = createCoverSearch(parts);
  const kernel = findKernelFiles();
  // Found again for each command: the last one may have created files that must be protected.
  const view = (covers: Covers): View =>
    viewLinux({
      root: parts.root,
      home: parts.env["HOME"],
      stranger: parts.stranger && { ...parts.stranger, files: inputs.files },
      path,
      isWritable: parts.writable ?? true,
      hasNetwork: parts.network,
      covers,
      options,
      kernel,
      isFiltered: inputs.filter !== undefined,
      memoryFilesBytes: parts.totals && Math.floor(parts.totals.memoryBytes / 2),
    });
  await tryOut(inputs, program, view({ hidden: [], readOnly: [] })).catch(
    async (thrown: unknown) => {
      await inputs.close();
      throw thrown;
    },
  );

  /** The placeholders come first: a missing path must be held before it is looked up. */
  async function wrapHeld(command: SandboxCommand, held: Held): Promise<HeldCommand> {
    const { readOnly, hidden } = await findCovers(held.readOnly);
    const empty = held.places.map((place) => ({ path: place.path, isFolder: true }));
    const others = hidden.filter((one) => !empty.some(({ path: place }) => place === one.path));
    const seen = view({ readOnly, hidden: [...others, ...empty, ...inputs.hidden] });
    const { cwd, writes = [] } = command;
    const limited = withLimits(command.argv, await readTasks(), parts.totals?.memoryBytes);
    const prepared = await inputs.prepare({
      program,
      options: bubblewrapArguments(seen, {
        cwd,
        writes,
        reads: await readsOf(command, path, seen),
      }),
      command: limited,
    });
    return { ...prepared, env: { HOME: seen.home ?? "/tmp", TMPDIR: "/tmp" } };
  }

  return {
    async wrap(command) {
      const readOnly = parts.findReadOnly?.() ?? [];
      const places = await holdMissing(parts, readOnly);
      const release = async (): Promise<void> => {
        await Promise.all(places.map((place) => place.release()));
      };
      try {
        const wrapped = await wrapHeld(command, { places, readOnly });
        const releaseAll = async (): Promise<void> => {
          await wrapped.release?.();
          await release();
        };
        return { ...wrapped, release: releaseAll };
      } catch (thrown) {
        await release();
        throw thrown;
      }
    },
    close: inputs.close,
  };
}

/** The paths that one command must not create: empty folders hold these places, and names that are read-only now. */
interface Held {
  readonly places: readonly Placeholder[];
  readonly readOnly: readonly string[];
}

/** The paths that a command sees in addition to the common view: what its tool asks for, and the program itself. */
async function readsOf(command: SandboxCommand, path: string, seen: View): Promise<string[]> {
  const wanted = await Promise.all((command.reads ?? []).map((one) => realpath(one)));
  const shown = [...seen.folders, ...seen.programs, seen.root];
  const around = { home: seen.home, root: seen.root, seen: shown };
  const file = findProgram(command.argv[0], path, command.cwd);
  if (file === undefined) return wanted;
  if (!command.argv[0].includes("/")) return [...linkedProgram(file, around), ...wanted];
  await requireShown(file, [...shown, ...wanted, ...(command.writes ?? [])]);
  return wanted;
}

/** Holds one after the other. If one cannot be held, those before it are released. */
async function holdMissing(parts: SandboxParts, more: readonly string[]): Promise<Placeholder[]> {
  const held: Placeholder[] = [];
  try {
    for (const path of toPlaces(parts, more)) {
      const place = await holdPlace(path);
      if (place) held.push(place);
    }
    return held;
  } catch (thrown) {
    await Promise.all(held.map((place) => place.release()));
    throw thrown;
  }
}

/** Paths in the workspace that commands must not create. */
function toPlaces(
  { root, hidden, readOnly = [], writable = true }: SandboxParts,
  more: readonly string[] = [],
): string[] {
  if (!writable) return [];
  const paths = [...hidden, ...readOnly, ...more].map((path) => resolve(root, path));
  return paths.filter((path) => isWithin(root, path));
}

/** A model may name a program by its path, which must not make the sandbox show other files. */
async function requireShown(file: string, shown: readonly string[]): Promise<void> {
  const place = await realpath(file);
  if (shown.some((folder) => isWithin(folder, place))) return;
  const message = `\`${clip(file, 200)}\` is outside the workspace: the sandbox shows programs that are the system's or on \`PATH\`.`;
  throw new Failure("forbidden", message);
}

/** A bubblewrap outside of the workspace: inside it, a command could have created one. */
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
      throw unavailable(`${program} does not run: ${clip(cause.message, 200)}`, "Install it again");
    },
  );
  return OPTIONS.filter((option) => stdout.includes(`${option} `));
}

/** Starts an empty program with all the mounts of a command, to see whether the kernel refuses any. */
async function tryOut(inputs: Inputs, bubblewrap: string, view: View): Promise<void> {
  const options = bubblewrapArguments(view, { cwd: view.root, reads: [], writes: [] });
  const command = ["/bin/sh", "-c", "exit 0"];
  const { argv, release } = await inputs.prepare({ program: bubblewrap, options, command });
  const [program, ...words] = argv;
  await execute(program, words, { timeout: TRIAL_LIMIT_MS, env: {} }).catch((thrown: unknown) => {
    const { stderr = "" } = thrown as { readonly stderr?: string };
    throw unavailable(`bubblewrap cannot hold a command here (${clip(stderr, 200)})`, remedy());
  });
  await release();
}

/** The switch of a distribution that denies user namespaces to programs without a profile. */
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

const FOLDER = "/proc";

/** Figures about the machine that programs ask for, and links that lead to a process's own files. */
const SHOWN: ReadonlySet<string> = new Set([
  ...["cpuinfo", "loadavg", "meminfo", "stat", "swaps", "uptime", "version", "vmstat"],
  ...["cgroups", "filesystems", "sysvipc", "tty"],
]);

/** Settings, in which programs read limits. */
const FIXED: ReadonlySet<string> = new Set(["sys"]);

/**
 * The files of `/proc` that a sandboxed command sees beside its own processes. The kernel lets user 0 change the
 * machine through some of these files without any capability, and others show what other users do. So there is a list
 * of the allowed ones: a kernel may have files that are unknown here. All of them are read-only.
 */
export function findKernelFiles(folder = FOLDER): KernelFiles {
  const hidden: Hidden[] = [];
  const readOnly: string[] = [];
  for (const name of readdirSync(folder)) {
    if (/^\d+$/.test(name) || SHOWN.has(name)) continue;
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    // Links lead to the files of the reading process.
    if (!stats || stats.isSymbolicLink()) continue;
    const path = join(FOLDER, name);
    if (FIXED.has(name)) readOnly.push(path);
    else hidden.push({ path, isFolder: stats.isDirectory() });
  }
  return { hidden, readOnly };
}
