/** The gate of one run, made of its task and of the settings that hold for all runs. */

import type { AgentTask } from "../agent/task.ts";
import { findSecrets, redactExactly } from "../base/redact.ts";
import type { Ask } from "../tools/gate/ask.ts";
import type { GateLimits } from "../tools/gate/call.ts";
import { createGate, type Gate } from "../tools/gate/gate.ts";
import { type Grant, grants, sandboxOf } from "../tools/gate/grant.ts";
import { matchesPath, type Rule } from "../tools/gate/rules.ts";
import type { Sandbox } from "../tools/sandbox/sandbox.ts";
import type { Tool } from "../tools/tool.ts";
import { openWorkspace } from "../tools/workspace/open-workspace.ts";
import { PROTECTED_PATHS } from "../tools/workspace/protected.ts";
import type { Boundary, Workspace } from "../tools/workspace/workspace.ts";
import type { Environment } from "./paths.ts";

export interface SafetySettings {
  readonly rules: readonly Rule[];
  /** Undefined where there is nobody to ask. */
  readonly ask: Ask | undefined;
  readonly toolTimeoutMs: number;
  readonly outputChars: number;
  /** Variables that commands get beside the usual ones. */
  readonly commandEnv: readonly string[];
  readonly sandboxNetwork: boolean;
  readonly hardLinks: boolean;
}

export const SAFETY: SafetySettings = {
  rules: [],
  ask: undefined,
  toolTimeoutMs: 120_000,
  outputChars: 200_000,
  commandEnv: [],
  sandboxNetwork: false,
  hardLinks: false,
};

export interface GateSurroundings extends SafetySettings {
  readonly env: Environment;
}

/** Rejects when there is no such folder, or the sandbox that is asked for cannot be had. */
export async function openGate(
  task: AgentTask,
  tools: readonly Tool[],
  surroundings: GateSurroundings,
): Promise<Gate> {
  const { rules, ask, env } = surroundings;
  const workspace = await openWorkspace(task.root, toBoundary(task.grant, surroundings));
  const sandbox = await openRunSandbox(task, workspace, surroundings);
  const limits: GateLimits = {
    timeoutMs: surroundings.toolTimeoutMs,
    outputChars: surroundings.outputChars,
  };
  return createGate({
    tools,
    workspace,
    sandbox,
    grant: task.grant,
    policy: { approve: task.approve, rules },
    ask,
    limits,
    redact: redactExactly(findSecrets(env)),
  });
}

/** What is weighed again when a file is opened: a link may have been swapped since the rules were read. */
function toBoundary(grant: Grant, { rules, hardLinks }: SafetySettings): Boundary {
  const denied = rules.filter(({ verdict, about }) => verdict === "deny" && about === "path");
  const isDenied = (path: string): boolean =>
    denied.some(({ pattern }) => matchesPath(path, pattern));
  return {
    mayRead: (path) => grants(grant, "reads", path) && !isDenied(path),
    mayWrite: (path) => grants(grant, "writes", path) && !isDenied(path),
    hardLinks,
  };
}

/** Version control must be read by its own commands; what else is protected is not there for any. */
const READ_ONLY = [".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul"];
const HIDDEN = Object.keys(PROTECTED_PATHS).filter((path) => !READ_ONLY.includes(path));

/**
 * Opened at once where it may be refused; else by the first command, because most runs have none and
 * starting processes is code to load.
 */
async function openRunSandbox(
  { sandbox: asked, grant }: AgentTask,
  { root }: Workspace,
  { env, commandEnv, sandboxNetwork }: GateSurroundings,
): Promise<Sandbox> {
  const level = sandboxOf(grant, asked);
  const open = async (): Promise<Sandbox> => {
    const { openSandbox } = await import("../tools/sandbox/open-sandbox.ts");
    const parts = { root, env, names: commandEnv, network: sandboxNetwork };
    return openSandbox(level, { ...parts, hidden: HIDDEN, readOnly: READ_ONLY });
  };
  if (level === "sandbox") return open();
  let opened: Promise<Sandbox> | undefined;
  return {
    level,
    async start(command) {
      opened ??= open();
      return (await opened).start(command);
    },
    close: async () => (await opened)?.close(),
  };
}
