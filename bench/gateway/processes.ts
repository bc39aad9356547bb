/** The processes of a bench: each on a core of its own, and the CPU it has used. Linux. */

import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Started {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Starts a program that reports its port once it listens; it ends when it is disconnected. */
export async function startChild(
  program: string,
  argv: readonly string[],
  core: number,
): Promise<Started> {
  const child = fork(fileURLToPath(program), argv, {
    execArgv: ["--expose-gc"],
    env: { PATH: process.env["PATH"], NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  pin(child, core);
  const [port] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => Promise.reject(new Error(`${argv.join(" ")} did not start`))),
  ])) as [number];
  return { child, port };
}

export function pin({ pid }: ChildProcess, core: number): void {
  spawnSync("taskset", ["-a", "-pc", String(core), String(pid)]);
}

/**
 * User and system time of a process, of all its threads. From `schedstat`, which counts nanoseconds: `stat` counts
 * ticks of 10 ms, which is 5 % of what three thousand plain requests take.
 */
export function cpuMs({ pid }: Pick<ChildProcess, "pid">): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readStat(`/proc/${pid}/task/${id}/schedstat`)));
  return times.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

/** How long a thread has run, in nanoseconds; empty for one that has ended meanwhile. */
function readStat(path: string): string {
  try {
    return readFileSync(path, "latin1").split(" ", 1)[0] ?? "0";
  } catch {
    return "0";
  }
}

/** The living processes that a process has started. */
export function childrenOf({ pid }: Pick<ChildProcess, "pid">): { readonly pid: number }[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim();
  return text.split(/\s+/).flatMap((word) => (word === "" ? [] : [{ pid: Number(word) }]));
}
