/** A workspace in a temporary folder, for the tests of the tools that work in one. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createGate, type ToolResult } from "../../src/tools/gate.ts";
import type { Tool, ToolContext } from "../../src/tools/tool.ts";

export interface WorkspaceFolder extends Disposable {
  /** The real path of the workspace; there is room for neighbours beside it. */
  readonly root: string;
  /** Writes a file and the folders above it. */
  write(path: string, content: string | Uint8Array): void;
  /** Calls the tool as a model does: through the gate, with JSON. */
  call(tool: Tool, input: object): Promise<ToolResult>;
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
    call: (tool, input) =>
      createGate([tool]).call(
        { name: tool.spec.name, arguments: JSON.stringify(input) },
        toContext(root),
      ),
    [Symbol.dispose]: () => rmSync(outer, { recursive: true, force: true }),
  };
}

export function toContext(root: string, signal = AbortSignal.timeout(10_000)): ToolContext {
  return { root, signal, idempotencyKey: "run_1/1/call_1" };
}
