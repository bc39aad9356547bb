/** The processes of a bench: each on a core of its own, and what it has used. Linux. */

import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Started {
  readonly child: ChildProcess;
  readonly port: number;
}

const TICKS_MS = 10;

/** Starts a program that tells its port once it listens; it ends when it is disconnected. */
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

/** User and system time of a process, of all its threads. */
export function cpuMs({ pid }: Pick<ChildProcess, "pid">): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICKS_MS;
}

/** The processes that a process has started and that live. */
export function childrenOf({ pid }: Pick<ChildProcess, "pid">): { readonly pid: number }[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim();
  return text.split(/\s+/).flatMap((word) => (word === "" ? [] : [{ pid: Number(word) }]));
}
