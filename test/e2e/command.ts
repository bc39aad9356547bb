/**
 * The built command as a process of its own, with its own home, folder and environment. `npm run build`
 * comes first.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { RunRecord } from "../../src/protocol/run-record.ts";
import { lateMessage, PATIENCE_MS } from "../patience.ts";

export const CLI = fileURLToPath(new URL("../../../dist/bin/cli.js", import.meta.url));

/** A home and a working folder, which are removed after the test. */
export interface Place extends AsyncDisposable {
  readonly home: string;
  readonly cwd: string;
  start(args: readonly string[], options?: CommandOptions): RunningCommand;
  /** Starts the command and waits for its end. */
  run(args: readonly string[], options?: CommandOptions): Promise<Ended>;
  /** The record of a run, as printed by `runs show --json`. */
  show(id: string): Promise<ShownRun>;
  /** The ids of all runs in the record, newest first. */
  runIds(): Promise<string[]>;
}

export interface CommandOptions {
  /** All variables besides `PATH` and `HOME`. A server on the tester's machine is not looked for. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; empty if missing. */
  readonly input?: string | Readable;
  /** Leaves standard output to the test, which may read none of it. */
  readonly leavesStdout?: true;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves once standard output contains the text; rejects if the command ends without it. */
  waitForStdout(text: string | RegExp): Promise<void>;
  waitForStderr(text: string | RegExp): Promise<void>;
  /** Rejects if the command had to be killed because it took too long. */
  readonly ended: Promise<Ended>;
}

export type ShownRun = RunRecord & { readonly events: readonly RunEvent[] };

/** `files` are written into the working folder, by their relative paths. */
export async function createPlace(
  files: Readonly<Record<string, string | Buffer>> = {},
): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), "offshoot-e2e-"));
  const home = join(root, "home");
  const cwd = join(root, "work");
  await mkdir(home);
  await mkdir(cwd);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  const running = new Set<ChildProcess>();
  const start = (args: readonly string[], options: CommandOptions = {}): RunningCommand => {
    const command = startCommand({ home, cwd, args, options });
    running.add(command.child);
    return command;
  };
  const run: Place["run"] = (args, options) => start(args, options).ended;
  const json = async (...args: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await run(["runs", ...args, "--json"]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  return {
    home,
    cwd,
    start,
    run,
    show: async (id) => (await json("show", id)) as ShownRun,
    runIds: async () => ((await json("list", "--all")) as { id: string }[]).map(({ id }) => id),
    async [Symbol.asyncDispose]() {
      for (const child of running) child.kill("SIGKILL");
      await rm(root, { recursive: true, force: true });
    },
  };
}

interface Start {
  readonly home: string;
  readonly cwd: string;
  readonly args: readonly string[];
  readonly options: CommandOptions;
}

function startCommand({ home, cwd, args, options }: Start): RunningCommand {
  const { env = {}, input, leavesStdout } = options;
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: home, OFFSHOOT_PROBE_LOCAL: "false", ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    // In a session of its own, so that it never asks on the terminal on which the tests run.
    detached: true,
  });
  const said = { stdout: "", stderr: "" };
  for (const name of leavesStdout ? (["stderr"] as const) : (["stdout", "stderr"] as const)) {
    child[name]?.setEncoding("utf8").on("data", (piece: string) => {
      said[name] += piece;
    });
  }
  feed(child, input);
  const ended = waitForEnd(child, said, `the end of \`offshoot ${args.join(" ")}\``);
  // A test that does not await it has already failed for another reason.
  ended.catch(() => {});
  const waitFor = (name: "stdout" | "stderr", text: string | RegExp): Promise<void> =>
    waitForText({ child, ended, name, text, read: () => said[name] });
  return {
    child,
    get stdout() {
      return said.stdout;
    },
    get stderr() {
      return said.stderr;
    },
    waitForStdout: (text) => waitFor("stdout", text),
    waitForStderr: (text) => waitFor("stderr", text),
    ended,
  };
}

/** A command that has read enough closes its end; the writer's error is not a failure. */
function feed({ stdin }: ChildProcess, input: string | Readable | undefined): void {
  if (!stdin || input === undefined) return;
  stdin.on("error", () => {});
  if (typeof input === "string") stdin.end(input);
  else input.pipe(stdin).on("error", () => input.destroy());
}

async function waitForEnd(
  child: ChildProcess,
  said: { stdout: string; stderr: string },
  what: string,
): Promise<Ended> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, PATIENCE_MS);
  // Not "exit", because its output may still be on its way then.
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  assert.ok(!isLate, `${lateMessage(what)}\n${said.stdout}\n${said.stderr}`);
  return { code, signal, ...said };
}

interface Waiting {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly name: "stdout" | "stderr";
  readonly text: string | RegExp;
  read(): string;
}

async function waitForText({ child, ended, name, text, read }: Waiting): Promise<void> {
  let isOver = false;
  const over = ended.then(({ stderr }) => {
    isOver = true;
    return stderr;
  });
  const isThere = (): boolean =>
    typeof text === "string" ? read().includes(text) : text.test(read());
  while (!isThere()) {
    const more = new Promise((resolve) => child[name]?.once("data", resolve));
    const stderr = await Promise.race([over, more]);
    if (isOver && !isThere()) {
      assert.fail(`ended without \`${text}\` on ${name}:\n${read()}\n${String(stderr)}`);
    }
  }
}
