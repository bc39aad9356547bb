/** A workspace with a sandbox around it, for tests that really run commands. */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { SandboxParts } from "../../../src/tools/sandbox/holder.ts";
import { openSandbox } from "../../../src/tools/sandbox/open-sandbox.ts";
import {
  type RanCommand,
  type RunOptions,
  runCommand,
} from "../../../src/tools/sandbox/run-command.ts";
import type { Sandbox, SandboxLevel } from "../../../src/tools/sandbox/sandbox.ts";
import { PATIENCE_MS, patience } from "../../patience.ts";

export interface TestSandbox extends AsyncDisposable {
  /** The workspace; beside it are `home`, the home folder, and room for neighbours. */
  readonly root: string;
  readonly outer: string;
  readonly sandbox: Sandbox;
  /** Runs a line in `/bin/sh`. */
  sh(script: string, options?: Partial<RunOptions>): Promise<RanCommand>;
}

export const RUN_OPTIONS: Omit<RunOptions, "signal"> = {
  timeoutMs: PATIENCE_MS,
  maxStdoutBytes: 100_000,
  maxStderrBytes: 100_000,
};

/** `files` are written below the folder that contains `root` and `home`. */
export async function openTestSandbox(
  level: SandboxLevel,
  files: Readonly<Record<string, string>> = {},
  parts: Partial<SandboxParts> = {},
): Promise<TestSandbox> {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), "offshoot-sandbox-")));
  const root = join(outer, "root");
  for (const folder of ["root", "home", "temp"]) mkdirSync(join(outer, folder));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(outer, path)), { recursive: true });
    writeFileSync(join(outer, path), content);
  }
  const env = { PATH: process.env["PATH"], HOME: join(outer, "home") };
  const tempDir = join(outer, "temp");
  const all: SandboxParts = { root, env, network: false, hidden: [], tempDir, ...parts };
  const sandbox = await openSandbox(level, all);
  return {
    root,
    outer,
    sandbox,
    sh: (script, options = {}) =>
      runCommand(
        sandbox,
        { argv: ["/bin/sh", "-c", script], cwd: root },
        { ...RUN_OPTIONS, signal: patience(), ...options },
      ),
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      rmSync(outer, { recursive: true, force: true });
    },
  };
}

/**
 * The sandbox with commands that count as started once they have printed something. So a short time limit
 * ends a command that has come this far, however slow the machine is.
 */
export function startsWithOutput(sandbox: Sandbox): Sandbox {
  return {
    ...sandbox,
    async start(command) {
      const running = await sandbox.start(command);
      const pieces = running.stdout[Symbol.asyncIterator]();
      const first = await pieces.next();
      const stdout = async function* (): AsyncGenerator<Buffer> {
        if (!first.done) yield first.value;
        yield* { [Symbol.asyncIterator]: () => pieces };
      };
      return { ...running, stdout: stdout() };
    },
  };
}

/** How many running processes have this text among their words. */
export function countProcesses(text: string): number {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => readOrNothing(`/proc/${name}/cmdline`).includes(text)).length;
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Gone meanwhile.
    return "";
  }
}
