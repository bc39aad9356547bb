/** Programs of other projects that are not installed with the tests: found on the path by their names, in a home of their own. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Reply, reply, respond, type Script } from "../../../src/testing/index.ts";
import { programLack, unless } from "../../needs.ts";
import { PATIENCE_MS } from "../../patience.ts";
import { KEY, TIMEOUT } from "./client-fixture.ts";

/** Names a test that is skipped, and says why, where the program is not on the path. */
export function whereInstalled(program: string): (name: string) => [string, object] {
  const lacking = unless(programLack(program));
  return (name) => {
    const [full, options] = lacking(name);
    return [full, { ...TIMEOUT, ...options }];
  };
}

export interface ProgramHome extends AsyncDisposable {
  readonly home: string;
  /** The folder it works in. */
  readonly cwd: string;
  write(path: string, text: string): Promise<void>;
  run(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ran>;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  /** All that it said, for a failure. */
  readonly said: string;
}

/** `write` takes paths from its root, under which `home` and `work` are. */
export async function openProgramHome(): Promise<ProgramHome> {
  const root = await mkdtemp(join(tmpdir(), "offshoot-program-"));
  const [home, cwd] = [join(root, "home"), join(root, "work")];
  await mkdir(home);
  await mkdir(cwd);
  return {
    home,
    cwd,
    async write(path, text) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    },
    run: (program, args, env = {}) =>
      runProgram(program, args, {
        cwd,
        env: { PATH: process.env["PATH"], HOME: home, OFFSHOOT_TEST_KEY: KEY, ...env },
      }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Ran> {
  // It may start others: all of them end with their group.
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (piece: string) => {
      said[name] += piece;
    });
  }
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // All of it has ended.
    }
  };
  const timer = setTimeout(end, PATIENCE_MS);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  end();
  return { code, stdout: said.stdout, said: `${said.stdout}\n${said.stderr}` };
}

type Step = Reply | ((outputs: readonly string[]) => Reply);

/**
 * The answer after that many results of tools. `tool` is one that the program offers in its own turns: whatever it asks
 * without it is the title of the session.
 */
export function afterResults(tool: string, steps: readonly Step[]): Script {
  return respond(({ tools, items }) => {
    if (!tools.some((one) => "name" in one && one.name === tool)) return reply.text("A title");
    const outputs = items.flatMap((item) =>
      item.type === "function_call_output" ? [toText(item.output)] : [],
    );
    const step = steps[outputs.length] ?? reply.text("Too many turns.");
    return typeof step === "function" ? step(outputs) : step;
  });
}

function toText(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}
