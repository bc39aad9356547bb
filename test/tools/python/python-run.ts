/** A run with only `python_execute`, in a workspace of its own. */

import { createPythonTool } from "../../../src/tools/python/python-execute.ts";
import type { PythonOptions } from "../../../src/tools/python/run-python.ts";
import { openSandbox } from "../../../src/tools/sandbox/open-sandbox.ts";
import type { SandboxLevel } from "../../../src/tools/sandbox/sandbox.ts";
import { ToolOutput } from "../../../src/tools/tool.ts";
import { patience } from "../../patience.ts";
import { createWorkspaceFolder, toContext } from "../workspace-folder.ts";

export interface PythonResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly result: string | null;
  readonly files?: readonly { path: string; size: number; text?: string; type?: string }[];
  readonly more_files?: number;
  readonly note?: string;
}

export interface PythonRun extends AsyncDisposable {
  run(code: string, more?: Arguments): Promise<PythonResult>;
  /** With the parts that follow the text. */
  output(code: string, more?: Arguments): Promise<ToolOutput>;
}

/** The most that the tool allows: only the tests of the limit should reach it. */
const MAX_SECONDS = 300;

interface Arguments {
  readonly mem?: string;
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

interface RunParts extends Partial<PythonOptions> {
  readonly level?: SandboxLevel;
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

export async function openPythonRun(parts: RunParts = {}): Promise<PythonRun> {
  const { level = "none", files = {}, env = {}, ...options } = parts;
  const folder = createWorkspaceFolder(files);
  const path = process.env["PATH"] ?? "";
  const sandbox = await openSandbox(level, {
    root: folder.root,
    env: { PATH: path, HOME: process.env["HOME"], ...env },
    network: true,
    hidden: [],
  });
  const context = { ...(await toContext(folder.root)), sandbox };
  const standard = { host: false, wheels: undefined, index: undefined, mounts: [] };
  const tool = createPythonTool({ ...standard, ...options });

  async function output(code: string, { signal, ...more }: Arguments = {}): Promise<ToolOutput> {
    const limit = signal ?? patience();
    const call = tool.parse({ code, timeout: MAX_SECONDS, ...more });
    const returned = await tool.run(call, { ...context, signal: limit });
    if (returned instanceof ToolOutput) return returned;
    throw new Error("it gives a `ToolOutput`");
  }

  return {
    output,
    run: async (code, more) => (await output(code, more)).value as unknown as PythonResult,
    async [Symbol.asyncDispose]() {
      await context.scope.close();
      await sandbox.close();
      folder[Symbol.dispose]();
    },
  };
}
