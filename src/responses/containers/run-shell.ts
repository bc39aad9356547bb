/** One call of a hosted shell: its commands in the container's folder, and what each of them wrote. */

import type { Json } from "../../base/json.ts";
import { cutToChars } from "../../base/text.ts";
import { openSandbox } from "../../tools/sandbox/open-sandbox.ts";
import { openPrivateFolder } from "../../tools/sandbox/private-folder.ts";
import { type Ran, runCommand } from "../../tools/sandbox/run-command.ts";
import type { Sandbox } from "../../tools/sandbox/sandbox.ts";
import type { Kept } from "../../tools/scope.ts";
import { type ToolContext, ToolOutput } from "../../tools/tool.ts";
import type { ChosenContainer } from "./auto-container.ts";
import { type ContainerFolder, createContainerFolder } from "./container-folder.ts";
import type { ShellParts } from "./shell-tool.ts";

export interface ShellCommands {
  readonly commands: readonly string[];
  /** Of all of them together. */
  readonly timeoutMs: number;
  readonly maxChars: number;
}

/** As the published item has it. */
export interface ShellRan {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome:
    | { readonly type: "exit"; readonly exit_code: number }
    | { readonly type: "timeout" };
}

interface Place extends Kept {
  readonly sandbox: Sandbox;
  readonly folder: ContainerFolder;
}

export async function runShell(
  parts: ShellParts,
  container: ChosenContainer,
  call: ShellCommands,
  { scope, signal }: ToolContext,
): Promise<ToolOutput> {
  await container.use();
  const key = `shell:${container.containerId}`;
  const { sandbox, folder } = await scope.keep(key, () => openPlace(parts, container));
  await folder.copyIn();
  const outputs: ShellRan[] = [];
  let leftMs = call.timeoutMs;
  for (const command of call.commands) {
    const startMs = parts.clock.now();
    const ran = await runCommand(
      sandbox,
      { argv: ["/bin/sh", "-c", command], cwd: folder.path },
      {
        timeoutMs: Math.max(leftMs, 1),
        maxStdoutBytes: call.maxChars * MAX_BYTES_A_CHAR,
        maxStderrBytes: call.maxChars * MAX_BYTES_A_CHAR,
        signal,
      },
    );
    outputs.push(toShown(ran, call.maxChars));
    leftMs -= parts.clock.now() - startMs;
    if (ran.timedOut) break;
  }
  const notes = await folder.copyOut();
  const value = { output: outputs, ...(notes.length > 0 && { notes }) } as unknown as Json;
  return new ToolOutput(value, [], { details: { output: outputs } as unknown as Json });
}

const MAX_BYTES_A_CHAR = 4;

async function openPlace(parts: ShellParts, container: ChosenContainer): Promise<Place> {
  const own = await openPrivateFolder();
  try {
    const folder = await createContainerFolder(parts, container, own.path);
    const { level, env } = parts;
    const around = { root: folder.path, env, network: false, hidden: [] };
    const sandbox = await openSandbox(level, around);
    return {
      ...{ sandbox, folder },
      async close() {
        await sandbox.close();
        await own.close();
      },
    };
  } catch (thrown) {
    await own.close();
    throw thrown;
  }
}

function toShown({ stdout, stderr, timedOut, exitCode }: Ran, maxChars: number): ShellRan {
  return {
    stdout: cutToChars(stdout, maxChars),
    stderr: cutToChars(stderr, maxChars),
    outcome: timedOut ? { type: "timeout" } : { type: "exit", exit_code: exitCode },
  };
}
