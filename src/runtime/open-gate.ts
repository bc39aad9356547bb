/** The gate of one run, made from its task and the settings for all runs. */

import { join } from "node:path";
import type { AgentTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import type { Environment } from "../base/environment.ts";
import { matchesGlob } from "../base/glob.ts";
import { findSecrets, redactExactly } from "../base/redact.ts";
import type { Changes, createChanges } from "../tools/changes/changes.ts";
import type { Always } from "../tools/gate/always.ts";
import type { AskAnywhere, Asker } from "../tools/gate/ask.ts";
import type { GateLimits } from "../tools/gate/call.ts";
import { createGate, type Gate } from "../tools/gate/gate.ts";
import { type Grant, grants, sandboxOf } from "../tools/gate/grant.ts";
import { matchesPath, type Rule } from "../tools/gate/rules.ts";
import type { Hooks } from "../tools/hooks/run-hooks.ts";
import { readDepth } from "../tools/mcp/depth.ts";
import { clearPlaces, UNMADE } from "../tools/sandbox/placeholder.ts";
import type { Sandbox } from "../tools/sandbox/sandbox.ts";
import type { Tool } from "../tools/tool.ts";
import { openWorkspace } from "../tools/workspace/open-workspace.ts";
import type { Boundary, Workspace } from "../tools/workspace/workspace.ts";
import type { SafetySettings } from "./safety-settings.ts";

export interface SafetyParts extends SafetySettings {
  readonly env: Environment;
}

export interface GateSurroundings extends Omit<SafetyParts, "ask"> {
  /** The run's hooks, if it has opened them for itself too; they are closed with the gate. */
  readonly runHooks?: Hooks | undefined;
  readonly ask: AskAnywhere | undefined;
  /** The subagent whose calls go through this gate; left out for the run that a person started. */
  readonly asker?: Asker | undefined;
  /** The standing allowances of the run's tree. */
  readonly treeAlways?: Always | undefined;
  /** Given if the run's changes to files are kept. */
  readonly clock?: Clock | undefined;
}

/** Rejects if the folder does not exist, or the requested sandbox is not available. */
export async function openGate(
  task: AgentTask,
  tools: readonly Tool[],
  surroundings: GateSurroundings,
): Promise<Gate> {
  const { rules, ask, asker, treeAlways, env } = surroundings;
  const waitMs = task.approval_wait_ms ?? surroundings.approvalWaitMs;
  const { undo: mode, clock } = surroundings;
  const workspace = await openFiles(task, surroundings);
  const sandbox = await openRunSandbox(task, workspace, surroundings);
  const limits: GateLimits = {
    timeoutMs: surroundings.toolTimeoutMs,
    outputChars: surroundings.outputChars,
    parallelCalls: surroundings.parallelCalls,
  };
  const redact = redactExactly(findSecrets(env));
  const hooks = surroundings.runHooks ?? (await openHooks(task, surroundings));
  const keepsChanges = mode !== "off" && clock;
  return createGate({
    tools,
    workspace,
    sandbox,
    grant: task.grant,
    policy: { approve: task.approve, rules },
    ask,
    waitMs,
    asker,
    treeAlways,
    limits,
    redact,
    hooks,
    mcpDepth: Math.max(task.mcp_depth ?? 0, readDepth(env)),
    changes: keepsChanges ? loadChanges({ workspace, clock, redact, mode }) : undefined,
  });
}

async function openFiles(task: AgentTask, around: GateSurroundings): Promise<Workspace> {
  const disk = await openWorkspace(task.root, toBoundary(task.grant, around));
  if (!around.buffers) return disk;
  const { overBuffers } = await import("../tools/workspace/buffered-workspace.ts");
  return overBuffers(disk, around.buffers);
}

/** Undefined without hooks: most users have none, and nothing is loaded for them. */
export async function openHooks(
  task: AgentTask,
  surroundings: Omit<SafetyParts, "ask">,
): Promise<Hooks | undefined> {
  const { hooks: map, env, commandEnv: names } = surroundings;
  if (Object.keys(map).length === 0) return undefined;
  const [{ checkHooks, toHooks }, { createHooks }] = await Promise.all([
    import("../tools/hooks/hook.ts"),
    import("../tools/hooks/run-hooks.ts"),
  ]);
  const { root, grant } = task;
  return createHooks({
    hooks: toHooks(checkHooks(map, "hooks")),
    root,
    // Hooks are the user's own programs and not a model's: they run as the user does, without the keys.
    async openSandbox() {
      const [{ openSandbox }, { gitCovers, toSandboxCovers }] = await Promise.all([
        import("../tools/sandbox/open-sandbox.ts"),
        import("./sandbox-covers.ts"),
      ]);
      const held = { names, gitHooks: false, network: true, ...gitCovers(root, env) };
      return openSandbox("none", { root, env, ...held, ...toSandboxCovers(grant, []) });
    },
  });
}

/** Loaded by the first call that changes files: most runs have none. */
function loadChanges(parts: Parameters<typeof createChanges>[0]): Changes {
  let loaded: Promise<Changes> | undefined;
  return {
    async around(call, work) {
      loaded ??= import("../tools/changes/changes.ts").then((code) => code.createChanges(parts));
      return await (await loaded).around(call, work);
    },
  };
}

/**
 * Checked again when a file is opened: a link may have been replaced since the rules were read. Listings and searches
 * do not ask, so they leave out paths for which a call would be asked about or refused.
 */
function toBoundary(
  grant: Grant,
  {
    rules,
    hardLinks,
    protectedPaths,
  }: Pick<SafetySettings, "rules" | "hardLinks" | "protectedPaths">,
): Boundary {
  const denied = rules.filter(({ verdict, about }) => verdict === "deny" && about === "path");
  const held = rules.filter(({ verdict, about, tool }) => {
    if (verdict === "allow") return false;
    return (
      about === "path" || (about === "anything" && READERS.some((name) => matchesGlob(name, tool)))
    );
  });
  const fits = (some: readonly Rule[], path: string): boolean =>
    some.some(({ pattern }) => matchesPath(path, pattern));
  return {
    mayRead: (path) => grants(grant, "reads", path) && !fits(denied, path),
    mayWrite: (path) => grants(grant, "writes", path) && !fits(denied, path),
    mayList: (path) => !fits(held, path),
    hardLinks,
    protectedPaths,
  };
}

/** The tools that show the content of files: a rule about one of them is about what may be shown. */
const READERS = ["read", "bash_read", "bash_find", "bash_ripgrep", "grep", "glob", "file_ops"];

async function clearLeftPlaces(root: string): Promise<void> {
  await clearPlaces([...UNMADE.hidden, ...UNMADE.readOnly, "HEAD"].map((name) => join(root, name)));
}

/**
 * Opened at once if it may be refused; otherwise by the first command, because most runs have none and the code that
 * starts processes takes time to load.
 */
async function openRunSandbox(
  { sandbox: asked, grant, depth }: AgentTask,
  { root }: Workspace,
  { env, rules, commandEnv, gitHooks, sandboxNetwork }: GateSurroundings,
): Promise<Sandbox> {
  const level = sandboxOf(grant, asked);
  const open = async (): Promise<Sandbox> => {
    const [{ openSandbox }, { gitCovers, toSandboxCovers }] = await Promise.all([
      import("../tools/sandbox/open-sandbox.ts"),
      import("./sandbox-covers.ts"),
    ]);
    const held = { names: commandEnv, gitHooks, network: sandboxNetwork };
    const parts = { root, env, ...held, ...gitCovers(root, env) };
    return openSandbox(level, { ...parts, ...toSandboxCovers(grant, rules) });
  };
  if (level === "sandbox") return open();
  // A sandbox that crashed may have left its placeholders, and not only its own next start finds them. The run above a
  // child has looked already: a look is a tenth of what a small child costs (bench/delegation.ts).
  if (depth === 0) await clearLeftPlaces(root);
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
