/** One call of `python_execute`: the run's session, which it keeps, and the result for the model. */

import { rm } from "node:fs/promises";
import { makeOwnFolder } from "../sandbox/own-folder.ts";
import type { SandboxCommand } from "../sandbox/sandbox.ts";
import type { ToolContext, ToolOutput } from "../tool.ts";
import { DRIVER } from "./driver.ts";
import { HOST_START } from "./driver-starts.ts";
import { createInterpreter, type Interpreter } from "./interpreter.ts";
import type { OpenRequest } from "./messages.ts";
import { readMounts } from "./mounts.ts";
import { type FetchPackage, openPackages, type Packages } from "./packages.ts";
import { findPyodide } from "./pyodide-command.ts";
import { createPythonSession, type PythonCall, type PythonSession } from "./session.ts";
import { startPyodide } from "./snapshot.ts";
import { toResult } from "./to-result.ts";

export interface PythonOptions {
  /** True for the machine's own `python3` in the run's sandbox, in place of Pyodide. */
  readonly host: boolean;
  /** A folder with wheels that Pyodide can import. */
  readonly wheels: string | undefined;
  /** A copy of Pyodide's distribution: a folder, or a URL if there is `fetchPackage`. */
  readonly index: string | undefined;
  /** Files and folders of the workspace that are copied into the interpreter when it starts. */
  readonly mounts: readonly string[];
  /** Reads a URL of the index; the interpreter itself reaches no network. */
  readonly fetchPackage?: FetchPackage | undefined;
  /** The folder with a started Python from which others start; without it each starts by itself. */
  readonly snapshots?: string | undefined;
  /** The programs to start, if they are not this process's own, the installation's and the one on `PATH`. */
  readonly nodePath?: string | undefined;
  readonly workerPath?: string | undefined;
  readonly pythonPath?: string | undefined;
}

export async function runPython(
  options: PythonOptions,
  call: PythonCall,
  context: ToolContext,
): Promise<ToolOutput> {
  const open = options.host ? openHostSession : openPyodideSession;
  const session = await context.scope.keep("python", () => open(options, context));
  return toResult(await session.run(call, context.signal));
}

/** An interpreter starts in about two seconds; a busy machine takes longer. */
const START_MS = 60_000;

type Started = Omit<OpenRequest, "op" | "mem" | "mounts">;

async function openPyodideSession(
  options: PythonOptions,
  { sandbox, workspace }: ToolContext,
): Promise<PythonSession> {
  const pyodide = findPyodide();
  const node = options.nodePath ?? process.execPath;
  const inside = { folder: "/work", library: "/lib/offshoot", pyodide };
  let packages: Promise<Packages> | undefined;
  return createPythonSession({
    async open(memBytes, signal) {
      const mounts = await readMounts(workspace, options.mounts);
      const place = { cwd: workspace.root, worker: options.workerPath };
      const parts = { node, pyodide, memBytes, ...place };
      const { command, snapshot } = await startPyodide(parts, {
        sandbox,
        signal,
        folder: options.snapshots,
      });
      const request = { ...inside, mounts, mem: memBytes, snapshot };
      return opened(createInterpreter(command), request, signal);
    },
    async findWheel(name, signal) {
      packages ??= openPackages({ ...options, pyodide }, signal);
      // An index that did not answer may answer the next call.
      packages.catch(() => {
        packages = undefined;
      });
      return (await packages).find(name, signal);
    },
    howToGet: (name) =>
      `Module \`${name}\` was not found. Set \`python_wheels\` to a folder with its wheel and those it needs, built for this Pyodide, or \`python_index\` to a copy of Pyodide's distribution.`,
  });
}

async function openHostSession(
  { mounts: paths, pythonPath = "python3" }: PythonOptions,
  { sandbox, workspace }: ToolContext,
): Promise<PythonSession> {
  let folder: HostFolder | undefined;
  const session = createPythonSession({
    async open(memBytes, signal) {
      await folder?.close();
      folder = await openHostFolder();
      const mounts = await readMounts(workspace, paths);
      const command = await sandbox.start(hostCommand(pythonPath, folder.path));
      const place = { folder: `${folder.path}/work`, library: `${folder.path}/library` };
      return opened(createInterpreter(command), { ...place, mounts, mem: memBytes }, signal);
    },
    findWheel: undefined,
    howToGet: (name) => `\`${pythonPath}\` has no \`${name}\`: install it for that Python.`,
  });
  return {
    run: session.run,
    async close() {
      await session.close();
      await folder?.close();
    },
  };
}

async function opened(
  interpreter: Interpreter,
  request: Started & Pick<OpenRequest, "mem" | "mounts">,
  signal: AbortSignal,
): Promise<Interpreter> {
  try {
    await interpreter.ask({ op: "open", ...request }, { timeoutMs: START_MS, signal });
    return interpreter;
  } catch (thrown) {
    await interpreter.close();
    throw thrown;
  }
}

/** Starts the machine's own Python: in the run's sandbox, with a folder of its own. */
interface HostFolder {
  readonly path: string;
  close(): Promise<void>;
}

/** The caller closes it when no interpreter works in it any more. */
async function openHostFolder(): Promise<HostFolder> {
  const path = await makeOwnFolder("python");
  return { path, close: () => rm(path, { recursive: true, force: true }) };
}

function hostCommand(python: string, folder: string): SandboxCommand {
  return {
    argv: [python, "-B", "-c", DRIVER + HOST_START],
    cwd: folder,
    env: { PYTHONIOENCODING: "utf-8" },
    writes: [folder],
  };
}
