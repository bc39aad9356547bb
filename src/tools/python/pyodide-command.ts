/**
 * How Pyodide's process is started. Around the bare realm that Python lives in (`realm.ts`) lie Node's
 * permission model, which leaves it two folders to read and nothing to start, and the system's own limit
 * on its memory.
 */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { findOwnProgram } from "../../base/own-program.ts";
import { nodeReservedKib } from "../sandbox/node-memory.ts";
import type { Command } from "../sandbox/sandbox.ts";

/** What Node, Pyodide and its compiled code take beside Python's memory. */
const OVERHEAD_KIB = 512 * 1024 + nodeReservedKib();

/** JavaScript's own heap; Python's objects lie in WebAssembly's memory. */
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
  /** The program that runs in it; the installation's own when left out. */
  readonly worker?: string | undefined;
  /** The file of a started Python, which it may read. */
  readonly snapshot?: string | undefined;
}

export function pyodideCommand(parts: PyodideParts): Command {
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
 * The permission model by the name that this Node knows, which lost its prefix when it was no
 * experiment any more; and no debugger by signal, where that can be said.
 */
export function guardFlags(known: { has(flag: string): boolean }): string[] {
  const permission = ["--permission", "--experimental-permission"].filter((flag) =>
    known.has(flag),
  );
  const debug = ["--disable-sigusr1"].filter((flag) => known.has(flag));
  return [...permission.slice(0, 1), ...debug];
}

/** Where the system has no such limit, WebAssembly's memory is still held by the realm. */
function limited(argv: readonly string[], kib: number): [string, ...string[]] {
  const script = 'ulimit -d "$0" 2>/dev/null; exec "$@"';
  return ["/bin/sh", "-c", script, String(kib), ...argv];
}

/** Node looks in the nearest `package.json` for what kind of module a file is. */
function packageFiles(folder: string): string[] {
  const file = join(folder, "package.json");
  if (existsSync(file)) return [file];
  return dirname(folder) === folder ? [] : packageFiles(dirname(folder));
}
