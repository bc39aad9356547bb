/**
 * One program from its start to its end, with everything that it starts: wall time, CPU and memory. Only Linux reports
 * these for a whole tree of processes (`/proc`).
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

export interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
  /** The most that all of its processes held at one look; shared pages count for each. */
  readonly peakMb: number;
}

export interface Program {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const TICK_MS = 10;
const LOOK_MS = 50;

/** Rejects with its output when it does not exit with 0. Measure one program at a time. */
export async function measureProgram({ argv, cwd, env }: Program): Promise<Cost> {
  const before = readEndedMs();
  const startedMs = performance.now();
  const child = spawn(process.execPath, argv, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-4000);
  });
  let peakKb = 0;
  const look = setInterval(() => {
    peakKb = Math.max(peakKb, weighTree(child.pid ?? 0));
  }, LOOK_MS);
  const [code] = (await once(child, "exit")) as [number | null];
  const wallMs = performance.now() - startedMs;
  clearInterval(look);
  if (code !== 0) throw new Error(`\`${argv.join(" ")}\` ended with ${code}:\n${said}`);
  return { wallMs, cpuMs: readEndedMs() - before, peakMb: peakKb / 1024 };
}

/** The CPU of all processes that this one has waited for, and that those have. */
function readEndedMs(): number {
  const stat = readFileSync("/proc/self/stat", "utf8");
  // The name, in brackets, may contain spaces; the state that follows it is field 3.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[16 - 3]) + Number(fields[17 - 3])) * TICK_MS;
}

function weighTree(pid: number): number {
  let kb = 0;
  const open = [pid];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const [, rss = "0"] = /^VmRSS:\s+(\d+)/m.exec(read(`/proc/${one}/status`)) ?? [];
    kb += Number(rss);
    open.push(...read(`/proc/${one}/task/${one}/children`).split(" ").filter(Boolean).map(Number));
  }
  return kb;
}

/** Empty for a process that has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
