/**
 * Opens the place where a run's commands run. The level that was asked for is the level one gets: what
 * it needs is tried out here, once, and missing parts are a refusal that says how to get them.
 */

import { homedir } from "node:os";
import { Failure, unreachable } from "../../base/failure.ts";
import { isWithin } from "../../base/paths.ts";
import { clip } from "../../base/text.ts";
import { commandVariables, type Variables } from "./environment.ts";
import type { Holder, SandboxParts, Wrapped } from "./holder.ts";
import { readTasks, withLimits } from "./limits.ts";
import { openPrivateFolder } from "./private-folder.ts";
import { type Start, startProcess } from "./process.ts";
import { findProgram } from "./programs.ts";
import type { Command, RunningCommand, Sandbox, SandboxLevel } from "./sandbox.ts";

/** Rejects with `Failure("invalid_request")` when this machine cannot give the level. */
export async function openSandbox(level: SandboxLevel, parts: SandboxParts): Promise<Sandbox> {
  const variables = commandVariables(parts.env, parts.names);
  const holder = await openHolder(level, parts, variables);

  async function start(command: Command): Promise<RunningCommand> {
    const env = { ...variables, ...command.env };
    requireProgram(command, env["PATH"]);
    const wrapped = await holder.wrap(command);
    // What the tool itself asks for comes last: it may want a home of its own.
    const all = { ...env, ...wrapped.env, ...command.env };
    const isNamespace = level === "sandbox" && process.platform === "linux";
    const { argv } = wrapped;
    return startWrapped(wrapped, { argv, cwd: command.cwd, env: all, isNamespace });
  }

  return { level, start, close: holder.close };
}

async function startWrapped({ release }: Wrapped, start: Start): Promise<RunningCommand> {
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

async function openHolder(
  level: SandboxLevel,
  parts: SandboxParts,
  variables: Variables,
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
    wrap: async ({ argv }) => ({ argv: withLimits(argv, await readTasks()), env: folder.env }),
    close: folder.close,
  };
}

async function openSystemHolder(parts: SandboxParts, variables: Variables): Promise<Holder> {
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

/** A workspace that holds everything would show everything. */
function requireRoot({ root, env }: SandboxParts): void {
  const home = env["HOME"] ?? homedir();
  if (root === home || !isWithin(root, home)) return;
  const message = `The workspace \`${clip(root, 80)}\` holds home folders, so the sandbox would hide nothing. Start in a folder of the project.`;
  throw new Failure("invalid_request", message, { param: "sandbox" });
}

function requireProgram({ argv: [name], cwd }: Command, path = ""): void {
  if (findProgram(name, path, cwd) !== undefined) return;
  throw new Failure("tool_failed", `There is no program \`${clip(name, 80)}\`.`);
}
