/**
 * Opens the sandbox of a run's commands. The requested level is used or refused: what it needs is tried out
 * here, once, and if parts are missing the refusal says how to get them.
 */

import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Environment } from "../../base/environment.ts";
import { Failure, unreachable } from "../../base/failure.ts";
import { isWithin } from "../../base/paths.ts";
import { clip } from "../../base/text.ts";
import { MEMORY_FOLDERS } from "./bubblewrap.ts";
import type { ControlGroup } from "./control-group.ts";
import { commandVariables } from "./environment.ts";
import { gitVariables } from "./git-variables.ts";
import type { HeldCommand, Holder, SandboxParts } from "./holder.ts";
import { readTasks, withLimits } from "./limits.ts";
import { PERSONA, PERSONA_VARIABLES } from "./persona.ts";
import { openPrivateFolder } from "./private-folder.ts";
import { type Start, startProcess } from "./process.ts";
import { findProgram } from "./programs.ts";
import type { RunningCommand, Sandbox, SandboxCommand, SandboxLevel } from "./sandbox.ts";
import type { ExceededTotal, ResourceTotals } from "./totals.ts";

/** Rejects with `Failure("invalid_request")` if this machine cannot provide the level. */
export async function openSandbox(level: SandboxLevel, parts: SandboxParts): Promise<Sandbox> {
  const given = parts.stranger ? PERSONA_VARIABLES : commandVariables(parts.env, parts.names);
  const variables = { ...given, ...gitVariables(given, { hooks: parts.gitHooks ?? false }) };
  const holder = await openHolder(level, parts, variables);
  const group = parts.totals && (await openGroup(parts.totals));

  async function start(command: SandboxCommand): Promise<RunningCommand> {
    const env = { ...variables, ...command.env };
    requireProgram(command, env["PATH"]);
    const wrapped = await holder.wrap(command);
    // The tool's own variables come last: it may want a home of its own.
    const all = { ...env, ...wrapped.env, ...command.env };
    const isNamespace = level === "sandbox" && process.platform === "linux";
    const argv = group?.join(wrapped.argv) ?? wrapped.argv;
    const { cwd, onStart } = command;
    const running = await startWrapped(wrapped, { argv, cwd, env: all, isNamespace, onStart });
    return parts.totals ? watched(running, parts.root, { totals: parts.totals, group }) : running;
  }

  return {
    level,
    start,
    async close() {
      await group?.close();
      await holder.close();
    },
  };
}

async function openGroup(totals: ResourceTotals): Promise<ControlGroup | undefined> {
  if (process.platform !== "linux") return undefined;
  const { openControlGroup } = await import("./control-group.ts");
  return openControlGroup(totals);
}

async function startWrapped({ release }: HeldCommand, start: Start): Promise<RunningCommand> {
  const running = await startProcess(start).catch(async (thrown: unknown) => {
    await release?.();
    throw thrown;
  });
  let ending: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await running.kill();
    await release?.();
  };
  return {
    ...running,
    kill: () => {
      ending ??= end();
      return ending;
    },
  };
}

/** Limits what a command and everything it starts may use, if the system shows how much that is. */
async function watched(
  running: RunningCommand,
  folder: string,
  { totals, group }: { readonly totals: ResourceTotals; readonly group: ControlGroup | undefined },
): Promise<RunningCommand> {
  if (process.platform !== "linux" || running.pid === undefined) return running;
  const { watchTotals } = await import("./watch-totals.ts");
  const memoryFolders = [...MEMORY_FOLDERS, PERSONA.home];
  const end = (): void => void running.kill();
  const watch = watchTotals({ pid: running.pid, folder, memoryFolders, totals, end });
  let ending: Promise<void> | undefined;
  let killed: ExceededTotal | undefined;
  const stop = async (): Promise<void> => {
    await running.kill();
    await watch.stop();
    killed = group?.takeExcess();
  };
  return {
    ...running,
    exceeded: () => watch.exceeded() ?? killed,
    kill: () => {
      ending ??= stop();
      return ending;
    },
  };
}

async function openHolder(
  level: SandboxLevel,
  parts: SandboxParts,
  variables: Environment,
): Promise<Holder> {
  switch (level) {
    case "none":
      return { wrap: async ({ argv }) => ({ argv, env: {} }), close: async () => undefined };
    case "process":
      return openProcessHolder(parts);
    case "sandbox":
      return openSystemHolder(parts, variables);
    default:
      return unreachable(level);
  }
}

async function openProcessHolder(parts: SandboxParts): Promise<Holder> {
  const folder = await openPrivateFolder(parts.tempDir);
  return {
    wrap: async ({ argv }) => ({
      argv: withLimits(argv, await readTasks(), parts.totals?.memoryBytes),
      env: folder.env,
    }),
    close: folder.close,
  };
}

async function openSystemHolder(parts: SandboxParts, variables: Environment): Promise<Holder> {
  requireRoot(parts);
  if (process.platform === "linux") {
    const { openBubblewrap } = await import("./open-bubblewrap.ts");
    return openBubblewrap(parts, variables);
  }
  if (process.platform === "darwin") {
    const { openSeatbelt } = await import("./open-seatbelt.ts");
    return openSeatbelt(parts, variables, await openPrivateFolder(parts.tempDir));
  }
  const message = "The sandbox level `sandbox` needs Linux or macOS. Use `none` or `process` here.";
  throw new Failure("invalid_request", message, { param: "sandbox" });
}

/**
 * Refuses a workspace that would show everything. The home folder counts too: a command that may write
 * `~/.bashrc` can run anything with the user's next shell.
 */
function requireRoot({ root, env }: SandboxParts): void {
  const given = env["HOME"] ?? homedir();
  // The workspace is named by its real path.
  const homes = [given, realPath(given)];
  if (!homes.some((home) => isWithin(root, home))) return;
  const shown = clip(root, 80);
  const message = homes.includes(root)
    ? `The workspace \`${shown}\` is your home folder, so the sandbox would hide nothing, and a command could change your shell's settings. Start in a folder of the project.`
    : `The workspace \`${shown}\` contains home folders, so the sandbox would hide nothing. Start in a folder of the project.`;
  throw new Failure("invalid_request", message, { param: "sandbox" });
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The folder does not exist, so nothing of it is shown.
    return path;
  }
}

function requireProgram({ argv: [name], cwd }: SandboxCommand, path = ""): void {
  if (findProgram(name, path, cwd) !== undefined) return;
  const shown = `\`${clip(name, 80)}\``;
  const isThere = name.includes("/") && existsSync(resolve(cwd, name));
  const message = isThere
    ? `${shown} is not an executable file. \`chmod +x\` makes a script one.`
    : `There is no program ${shown}.`;
  throw new Failure("tool_failed", message);
}
