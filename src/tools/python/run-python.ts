/** One call of `python_execute`: the run's session, which it keeps, and the result the model reads. */

import { isAbsolute, relative, resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import type { ToolContext, ToolOutput } from "../tool.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type HostFolder, hostCommand, openHostFolder } from "./host-command.ts";
import { createInterpreter, type Interpreter } from "./interpreter.ts";
import type { Mount, OpenRequest } from "./messages.ts";
import { openPackages, type Packages } from "./packages.ts";
import { findPyodide, pyodideCommand } from "./pyodide-command.ts";
import type { PythonOptions } from "./python-execute.ts";
import { createPythonSession, type PythonCall, type PythonSession } from "./session.ts";
import { toResult } from "./to-result.ts";

export async function runPython(
  options: PythonOptions,
  call: PythonCall,
  context: ToolContext,
): Promise<ToolOutput> {
  const open = options.host ? openHostSession : openPyodideSession;
  const session = await context.scope.keep("python", () => open(options, context));
  return toResult(await session.run(call, context.signal));
}

/** An interpreter starts in about two seconds; a machine under load takes longer. */
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
      const command = await sandbox.start(pyodideCommand({ node, pyodide, memBytes, ...place }));
      return opened(createInterpreter(command), { ...inside, mounts, mem: memBytes }, signal);
    },
    async findWheel(name) {
      packages ??= openPackages({ ...options, pyodide });
      return (await packages).find(name);
    },
    howToGet: (name) =>
      `Nobody has \`${name}\`. Set \`python_wheels\` to a folder with its wheel and those it needs, built for this Pyodide, or \`python_index\` to a copy of Pyodide's distribution.`,
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

/** All that is copied in; it goes through the interpreter's memory. */
const MAX_MOUNT_BYTES = 64 * 1024 * 1024;
const MAX_MOUNT_FILES = 2000;

/** Read through the workspace, so what it refuses is not copied either. */
async function readMounts(workspace: Workspace, paths: readonly string[]): Promise<Mount[]> {
  const mounts: Mount[] = [];
  let left = MAX_MOUNT_BYTES;
  const visit = async (path: string): Promise<void> => {
    const names = await workspace.list(path).catch(() => undefined);
    if (names) {
      for (const name of names) await visit(`${path}/${name.replace(/\/$/, "")}`);
      return;
    }
    if (mounts.length === MAX_MOUNT_FILES) {
      const message = `More than ${MAX_MOUNT_FILES} files are to be copied into Python: name fewer.`;
      throw new Failure("invalid_request", message);
    }
    const bytes = await workspace.readFile(path, left);
    left -= bytes.length;
    mounts.push({ path: toName(workspace.root, path), data: bytes.toString("base64") });
  };
  for (const path of paths) await visit(path);
  return mounts;
}

function toName(root: string, path: string): string {
  const name = relative(root, resolve(root, path));
  if (name !== "" && !name.startsWith("..") && !isAbsolute(name)) return name.replaceAll("\\", "/");
  throw new Failure(
    "forbidden",
    `\`${path}\` cannot be copied into Python: it is not in the workspace.`,
  );
}
