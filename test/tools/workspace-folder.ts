/** A workspace in a temporary folder, for the tests of tools that work in one. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Decision, GateParts, ToolResult } from "../../src/tools/gate/call.ts";
import { createGate } from "../../src/tools/gate/gate.ts";
import { WHOLE_GRANT } from "../../src/tools/gate/grant.ts";
import type { Sandbox } from "../../src/tools/sandbox/sandbox.ts";
import { createScope } from "../../src/tools/scope.ts";
import type { Tool, ToolContext } from "../../src/tools/tool.ts";
import { openWorkspace } from "../../src/tools/workspace/open-workspace.ts";
import type { Boundary } from "../../src/tools/workspace/workspace.ts";
import { PATIENCE_MS, patience } from "../patience.ts";

export interface WorkspaceFolder extends Disposable {
  /** The real path of the workspace; there is room for neighbours beside it. */
  readonly root: string;
  /** Writes a file and the folders above it. */
  write(path: string, content: string | Uint8Array): void;
  /** Calls the tool like a model: through the gate, with JSON. Everything that needs approval is allowed. */
  call(tool: Tool, input: object, parts?: Partial<GateParts>): Promise<TextResult>;
}

export interface TextResult extends ToolResult {
  readonly output: string;
  readonly decisions: readonly Decision[];
}

/** The files by their paths. Removed when it goes out of scope. */
export function createWorkspaceFolder(
  files: Readonly<Record<string, string | Uint8Array>> = {},
): WorkspaceFolder {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), "offshoot-tools-")));
  const root = join(outer, "root");
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  mkdirSync(root);
  for (const [path, content] of Object.entries(files)) write(path, content);
  return {
    root,
    write,
    call: async (tool, input, parts = {}) => {
      const gate = createGate({ ...(await toGateParts(root, [tool])), ...parts });
      const decisions: Decision[] = [];
      try {
        const call = { name: tool.spec.name, arguments: JSON.stringify(input) };
        const result = await gate.call(call, {
          signal: patience(),
          idempotencyKey: "run_1/1/call_1",
          tell: async () => {},
          take: () => {},
          decided: async (decision) => decisions.push(decision),
        });
        const { output } = result;
        const text = typeof output === "string" ? output : JSON.stringify(output);
        return { ...result, output: text, decisions };
      } finally {
        await gate.close();
      }
    },
    [Symbol.dispose]: () => rmSync(outer, { recursive: true, force: true }),
  };
}

const OPEN: Boundary = { mayRead: () => true, mayWrite: () => true, hardLinks: false };

/** Runs nothing: for tools that start no commands. */
export const NO_COMMANDS: Sandbox = {
  level: "process",
  start: () => Promise.reject(new Error("no command is to be started here")),
  close: async () => {},
};

/** A gate that allows everything that is not forbidden. */
export async function toGateParts(root: string, tools: readonly Tool[]): Promise<GateParts> {
  return {
    tools,
    workspace: await openWorkspace(root, OPEN),
    sandbox: NO_COMMANDS,
    grant: WHOLE_GRANT,
    policy: { approve: "auto", rules: [] },
    ask: undefined,
    limits: { timeoutMs: PATIENCE_MS, outputChars: 1_000_000, parallelCalls: 8 },
    redact: (text) => text,
  };
}

/** For a tool that is run without the gate. */
export async function toContext(root: string, signal = patience()): Promise<ToolContext> {
  return {
    workspace: await openWorkspace(root, OPEN),
    sandbox: NO_COMMANDS,
    scope: createScope(),
    allowsHost: () => true,
    signal,
    idempotencyKey: "run_1/1/call_1",
    tell: async () => {},
  };
}
