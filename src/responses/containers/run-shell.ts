/** One call of a hosted shell: its commands in the container's folder, and what each of them wrote. */

import type { Json } from "../../base/json.ts";
import { cutToChars } from "../../base/text.ts";
import { openSandbox } from "../../tools/sandbox/open-sandbox.ts";
import { openPrivateFolder } from "../../tools/sandbox/private-folder.ts";
import { type Ran, runCommand } from "../../tools/sandbox/run-command.ts";
import type { Sandbox } from "../../tools/sandbox/sandbox.ts";
import type { Excess, Totals } from "../../tools/sandbox/totals.ts";
import type { Kept } from "../../tools/scope.ts";
import { type ToolContext, ToolOutput } from "../../tools/tool.ts";
import type { ChosenContainer } from "./auto-container.ts";
import { FILES_FOLDER, listContainerFiles } from "./container-files.ts";
import { type ContainerFolder, createContainerFolder } from "./container-folder.ts";
import { toBytes } from "./new-container.ts";
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
  let excess: Excess | undefined;
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
    excess = ran.exceeded;
    if (ran.timedOut || excess) break;
  }
  const notes = excess?.of === "disk" ? await folder.reset() : await folder.copyOut();
  const value = { output: outputs, ...(notes.length > 0 && { notes }) } as unknown as Json;
  return new ToolOutput(value, [], { details: { output: outputs } as unknown as Json });
}

const MAX_BYTES_A_CHAR = 4;

async function openPlace(parts: ShellParts, container: ChosenContainer): Promise<Place> {
  const own = await openPrivateFolder();
  try {
    const folder = await createContainerFolder(parts, container, own.path);
    const { level, env } = parts;
    const sandbox = await openSandbox(level, {
      ...{ root: folder.path, env, network: false, hidden: [] },
      stranger: { place: FILES_FOLDER },
      totals: await findTotals(parts, container),
    });
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

/** More than a build of many parts runs at once. */
const MAX_TASKS = 512;

/** What a container holds while it is worked on; the shelf keeps less of it. */
const MAX_DISK_BYTES = 2 * 1024 ** 3;
const MAX_ENTRIES = 20_000;

/** A file system gives files and folders room in steps; what a tenant has left is counted by the byte. */
const DISK_SLACK_BYTES = 4 * 1024 ** 2;

/** What the tenant keeps already lies in the folder too, and takes none of its room again. */
async function findTotals({ shelf }: ShellParts, container: ChosenContainer): Promise<Totals> {
  const { tenant, memoryLimit } = container;
  const room = await shelf.countRoom?.(tenant);
  const kept = (await listContainerFiles(shelf, container)).reduce(
    (sum, { bytes }) => sum + bytes,
    0,
  );
  const left = room === undefined ? MAX_DISK_BYTES : room + kept + DISK_SLACK_BYTES;
  return {
    memoryBytes: toBytes(memoryLimit),
    diskBytes: Math.min(left, MAX_DISK_BYTES),
    entries: MAX_ENTRIES,
    tasks: MAX_TASKS,
  };
}

function toShown(
  { stdout, stderr, timedOut, exitCode, exceeded }: Ran,
  maxChars: number,
): ShellRan {
  const shown = cutToChars(stderr, maxChars);
  return {
    stdout: cutToChars(stdout, maxChars),
    stderr: exceeded ? `${shown}${shown === "" ? "" : "\n"}${exceeded.message}\n` : shown,
    // One that ended by itself before it was noticed did not do what it was to do either.
    outcome: timedOut
      ? { type: "timeout" }
      : { type: "exit", exit_code: exceeded ? exitCode || 1 : exitCode },
  };
}
