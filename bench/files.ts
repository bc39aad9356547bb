/**
 * A folder of 100,000 files: the first page of `bash_find` and of `bash_ripgrep`, against ripgrep itself
 * making the same listing, its output read and thrown away.
 *
 *     npm run bench:files [-- --check]
 */

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { bashFindTool } from "../src/tools/files/bash-find.ts";
import { bashRipgrepTool } from "../src/tools/files/bash-ripgrep.ts";
import type { Tool, ToolContext } from "../src/tools/tool.ts";
import { openWorkspace } from "../src/tools/workspace/open-workspace.ts";
import { type Comparison, runBench } from "./measure.ts";

const FOLDERS = 2000;
const FILES_EACH = 50;
const ROUNDS = 7;
const LIMIT = 1.5;

const root = mkdtempSync(join(tmpdir(), "offshoot-bench-"));
try {
  makeTree();
  const context = await toContext();
  await runBench([
    compare("all files", ["--files"], () => call(bashFindTool, {}, context)),
    compare("files by name", ["--files"], () => call(bashFindTool, { name: "*7.ts" }, context)),
    compare("a match in 2,000 files", ["-n", "value7 = "], () =>
      call(bashRipgrepTool, { pattern: "value7 = " }, context),
    ),
    compare("200,000 matches, in every file", ["-n", "common"], () =>
      call(bashRipgrepTool, { pattern: "common" }, context),
    ),
  ]);
} finally {
  rmSync(root, { recursive: true, force: true });
}

function makeTree(): void {
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = join(root, `pack${folder % 40}`, `part${folder}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < FILES_EACH; file++) {
      const text = `// a common line\nexport const value${file} = ${folder};\n// common again\n`;
      writeFileSync(join(path, `file${file}.ts`), text);
    }
  }
}

async function toContext(): Promise<ToolContext> {
  const boundary = { mayRead: () => true, mayWrite: () => true, hardLinks: false };
  const workspace = await openWorkspace(root, boundary);
  // The two tools use nothing else of what a run gives them.
  return { workspace, signal: new AbortController().signal } as ToolContext;
}

function compare(title: string, args: readonly string[], ours: () => Promise<void>): Comparison {
  return {
    title,
    unit: "ms",
    rounds: ROUNDS,
    contenders: [
      { name: "rg", measure: () => measureMs(() => runRipgrep(args)) },
      { name: "offshoot", measure: () => measureMs(ours) },
    ],
    limits: [{ subject: "offshoot", baseline: "rg", atMost: LIMIT }],
  };
}

async function measureMs(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function call(tool: Tool, input: object, context: ToolContext): Promise<void> {
  const page = await tool.run(tool.parse({ ...input }), context);
  const { returned } = page as { returned?: number };
  if (returned !== 20) throw new Error(`${tool.spec.name} returned ${returned}`);
}

function runRipgrep(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(rgPath, [...args, "./"], {
      cwd: root,
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.stdout.resume();
    child.once("error", reject);
    child.once("close", () => resolve());
  });
}
