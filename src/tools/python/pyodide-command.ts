/**
 * Starts Pyodide's process. Around Python's bare realm (`realm.ts`) are Node's permission model, with which
 * it can read two folders and start nothing, and the system's own limit on its memory.
 */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { findOwnProgram } from "../../base/own-program.ts";
import { nodeReservedKib } from "../sandbox/node-memory.ts";
import type { SandboxCommand } from "../sandbox/sandbox.ts";

/** The memory of Node, Pyodide and its compiled code beside Python's. */
const OVERHEAD_KIB = 512 * 1024 + nodeReservedKib();

/** JavaScript's own heap; Python's objects are in WebAssembly's memory. */
const HEAP_MIB = 256;

export function findPyodide(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
  } catch (cause) {
    const message = "The package `pyodide` is not installed: run `npm install pyodide`.";
    throw new Failure("tool_failed", message, { cause });
  }
}

export interface PyodideParts {
  readonly node: string;
  readonly pyodide: string;
  readonly cwd: string;
  readonly memBytes: number;
  /** The program that runs in it; the installation's own if missing. */
  readonly worker?: string | undefined;
  /** The file of a started Python, which it may read. */
  readonly snapshot?: string | undefined;
}

export function pyodideCommand(parts: PyodideParts): SandboxCommand {
  const { node, pyodide, cwd, memBytes, worker = findOwnProgram("python-worker") } = parts;
  const reads = [pyodide, dirname(worker)];
  const files = parts.snapshot === undefined ? [] : [parts.snapshot];
  const argv = [
    node,
    ...guardFlags(process.allowedNodeEnvironmentFlags),
    ...reads.map((folder) => `--allow-fs-read=${join(folder, "/")}`),
    ...files.map((file) => `--allow-fs-read=${file}`),
    "--disallow-code-generation-from-strings",
    "--experimental-vm-modules",
    "--no-warnings",
    `--max-old-space-size=${HEAP_MIB}`,
    worker,
  ] as const;
  return {
    argv: limited([...argv], Math.ceil(memBytes / 1024) + OVERHEAD_KIB),
    cwd,
    reads: [...reads, ...files, ...packageFiles(dirname(worker)), node],
  };
}

/**
 * The permission model by the name that this Node uses, which lost its prefix when it became stable; and no
 * debugger by signal, if that can be set.
 */
export function guardFlags(known: { has(flag: string): boolean }): string[] {
  const permission = ["--permission", "--experimental-permission"].filter((flag) =>
    known.has(flag),
  );
  const debug = ["--disable-sigusr1"].filter((flag) => known.has(flag));
  return [...permission.slice(0, 1), ...debug];
}

/** If the system has no such limit, the realm still limits WebAssembly's memory. */
function limited(argv: readonly string[], kib: number): [string, ...string[]] {
  const script = 'ulimit -d "$0" 2>/dev/null; exec "$@"';
  return ["/bin/sh", "-c", script, String(kib), ...argv];
}

/** Node reads the nearest `package.json` to find the module type of a file. */
function packageFiles(folder: string): string[] {
  const file = join(folder, "package.json");
  if (existsSync(file)) return [file];
  return dirname(folder) === folder ? [] : packageFiles(dirname(folder));
}
