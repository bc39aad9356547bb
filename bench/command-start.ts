/**
 * What the life line costs a command: `true` from its start to its end as a bare process, and as one that waits until
 * the keeper knows of it. In turns, so that both run under the same load. Prints medians; run it with `node
 * build/bench/command-start.js`.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { spawnWaiting } from "../src/tools/sandbox/life-line.ts";

const ROUNDS = 300;
const TRUE = "/bin/true";

async function runBare(): Promise<void> {
  await once(spawn(TRUE, { stdio: "pipe", detached: true }), "exit");
}

async function runWaiting(): Promise<void> {
  const waiting = spawnWaiting({ argv: [TRUE], cwd: "/", env: {}, variable: "OFFSHOOT_COMMAND" });
  const exited = once(waiting.child, "exit");
  await once(waiting.child, "spawn");
  await waiting.hold();
  waiting.go();
  await exited;
  waiting.release();
}

const WAYS = { bare: runBare, waiting: runWaiting };
const times: Record<keyof typeof WAYS, number[]> = { bare: [], waiting: [] };
for (let round = 0; round < ROUNDS; round++) {
  for (const name of ["bare", "waiting"] as const) {
    const startedMs = performance.now();
    await WAYS[name]();
    times[name].push(performance.now() - startedMs);
  }
}
for (const [name, all] of Object.entries(times)) {
  const [first = 0] = all;
  const median = all.sort((a, b) => a - b)[ROUNDS / 2] ?? 0;
  console.log(`${name}: median ${median.toFixed(2)} ms, first ${first.toFixed(1)} ms`);
}
