/**
 * Makes one call of a hosted shell: runs its commands in the container's folder, and returns the output of each.
 */

import { asJson } from "../../base/json.ts";
import { cutToChars } from "../../base/text.ts";
import { openSandbox } from "../../tools/sandbox/open-sandbox.ts";
import { openPrivateFolder } from "../../tools/sandbox/private-folder.ts";
import { type RanCommand, runCommand } from "../../tools/sandbox/run-command.ts";
import type { Sandbox, SandboxLevel } from "../../tools/sandbox/sandbox.ts";
import type { ExceededTotal, ResourceTotals } from "../../tools/sandbox/totals.ts";
import type { ScopedResource } from "../../tools/scope.ts";
import { type ToolContext, ToolOutput } from "../../tools/tool.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import type { ChosenContainer } from "./auto-container.ts";
import { FILES_FOLDER, listContainerFiles } from "./container-files.ts";
import { type ContainerFolder, createContainerFolder } from "./container-folder.ts";
import { toBytes } from "./new-container.ts";

export interface ShellParts extends ShelfParts {
  /** `sandbox`, unless the operator trusts everyone who may use the server. */
  readonly level: SandboxLevel;
  /** The variables of this process; commands get those of an allow-list. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ShellCommands {
  readonly commands: readonly string[];
  /** Time for all of them together. */
  readonly timeoutMs: number;
  readonly maxChars: number;
}

/** In the form of the published item. */
export interface ShellRan {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome:
    | { readonly type: "exit"; readonly exit_code: number }
    | { readonly type: "timeout" };
}

interface Place extends ScopedResource {
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
  let excess: ExceededTotal | undefined;
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
  const value = asJson({ output: outputs, ...(notes.length > 0 && { notes }) });
  return new ToolOutput(value, [], { details: asJson({ output: outputs }) });
}

const MAX_BYTES_A_CHAR = 4;

async function openPlace(parts: ShellParts, container: ChosenContainer): Promise<Place> {
  const own = await openPrivateFolder();
  try {
    const folder = await createContainerFolder(parts, container, own.path);
    const { level, env } = parts;
    const sandbox = await openSandbox(level, {
      root: folder.path,
      env,
      network: false,
      hidden: [],
      stranger: { place: FILES_FOLDER },
      totals: await findTotals(parts, container),
    });
    return {
      sandbox,
      folder,
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

/** More tasks than a large parallel build runs at once. */
const MAX_TASKS = 512;

/** The size of a container while it is worked on; the shelf keeps less of it. */
const MAX_DISK_BYTES = 2 * 1024 ** 3;
const MAX_ENTRIES = 20_000;

/** A file system rounds sizes up; the tenant's remaining room is counted in bytes. */
const DISK_SLACK_BYTES = 4 * 1024 ** 2;

/** The limits for all processes of a shell. Stored files are in its folder too, and must not be counted twice. */
async function findTotals(
  { shelf }: ShellParts,
  container: ChosenContainer,
): Promise<ResourceTotals> {
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
  { stdout, stderr, timedOut, exitCode, exceeded }: RanCommand,
  maxChars: number,
): ShellRan {
  const shown = cutToChars(stderr, maxChars);
  return {
    stdout: cutToChars(stdout, maxChars),
    stderr: exceeded ? `${shown}${shown === "" ? "" : "\n"}${exceeded.message}\n` : shown,
    // A command that ended by itself before the limit was noticed did not do its work either.
    outcome: timedOut
      ? { type: "timeout" }
      : { type: "exit", exit_code: exceeded ? exitCode || 1 : exitCode },
  };
}
