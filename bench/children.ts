/**
 * A thousand children in the process of one parent: what one costs while it waits for its model, and
 * what it costs beyond a run that a person starts. The model's server has a process of its own.
 *
 *     npm run bench:children [-- --check]
 *
 * The same file is the program of that server, told apart by its first argument.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { mapConcurrent } from "../src/base/async.ts";
import { createLimiter } from "../src/providers/limits/limiter.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../src/runtime/runtime.ts";
import {
  AT_ONCE,
  CALLS,
  CHILDREN,
  PARENT,
  startHoldingUpstream,
  toPrompt,
} from "./children-upstream.ts";
import { runBench } from "./measure.ts";

const ROUNDS = 3;
const ALLOWED_KB = 100;
const ALLOWED_MS = 2;

/** A limiter for each run, which makes none wait: every child must have a connection of its own. */
const OPTIONS: RuntimeOptions = {
  env: {},
  limiters: { of: ({ vendor }) => createLimiter({ vendor }) },
};

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

if (process.argv[2] === "upstream") await startHoldingUpstream();
else await compare();

async function compare(): Promise<void> {
  // Proxies and keys of the machine must not influence a measurement.
  const upstream = fork(fileURLToPath(import.meta.url), ["upstream"], { env: {} });
  const [url] = (await once(upstream, "message")) as [string];
  const allowed = { name: "allowed" };
  const beyond = "a child, beyond a plain run";
  let plainMs = Number.NaN;
  let childMs = Number.NaN;
  try {
    await runBench([
      {
        title: `${AT_ONCE} children that wait for their model`,
        unit: "KB each",
        rounds: ROUNDS,
        contenders: [
          { name: "a waiting child", measure: () => measureWaiting(upstream, url) },
          { ...allowed, measure: () => ALLOWED_KB },
        ],
        limits: [{ subject: "a waiting child", baseline: allowed.name, atMost: 1 }],
      },
      {
        title: `${CHILDREN} children of one model call`,
        unit: "CPU ms each",
        rounds: ROUNDS,
        contenders: [
          {
            name: "a plain run",
            async measure() {
              plainMs = await measureEach(url, runPlain);
              return plainMs;
            },
          },
          {
            name: "a child",
            async measure() {
              childMs = await measureEach(url, runChildren);
              return childMs;
            },
          },
          { name: beyond, measure: () => childMs - plainMs },
          { ...allowed, measure: () => ALLOWED_MS },
        ],
        limits: [{ subject: beyond, baseline: allowed.name, atMost: 1 }],
      },
    ]);
  } finally {
    upstream.disconnect();
  }
}

/** All memory that the tree holds while its children wait, buffers included, divided by them. */
async function measureWaiting(upstream: ChildProcess, url: string): Promise<number> {
  const runtime = await createRuntime(OPTIONS);
  await runPlainOnce(runtime, url, 0);
  const before = weigh();
  upstream.send("hold");
  const waiting = once(upstream, "message");
  const ended = runChildren(runtime, url);
  const early = ended.then(() => Promise.reject(new Error("The children did not wait.")));
  await Promise.race([waiting, early]);
  const after = weigh();
  upstream.send("release");
  await early.catch(() => ended);
  await runtime.close();
  return (after - before) / AT_ONCE / 1024;
}

function weigh(): number {
  // Objects that only finalizers free are collected by the second call.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

type Work = (runtime: Runtime, url: string) => Promise<void>;

async function measureEach(url: string, work: Work): Promise<number> {
  const runtime = await createRuntime(OPTIONS);
  collect();
  const before = process.cpuUsage();
  await work(runtime, url);
  const { user, system } = process.cpuUsage(before);
  await runtime.close();
  return (user + system) / 1000 / CHILDREN;
}

/** As many at once as in the tree. */
async function runPlain(runtime: Runtime, url: string): Promise<void> {
  const numbers = Array.from({ length: CHILDREN }, (_, number) => number);
  await mapConcurrent(numbers, AT_ONCE, (number) => runPlainOnce(runtime, url, number));
}

async function runPlainOnce(runtime: Runtime, url: string, number: number): Promise<void> {
  const run = await runtime.run({ ...toRequest(url), input: toPrompt(number), max_turns: 1 });
  const { ending } = await run.result();
  if (ending !== "completed") throw new Error(`A plain run ended as ${ending}.`);
}

/** Throws unless every child has completed. */
async function runChildren(runtime: Runtime, url: string): Promise<void> {
  const run = await runtime.run({ ...toRequest(url), input: PARENT });
  const { ending, spent, tool_calls } = await run.result();
  const completed = new Set<string>();
  for await (const batch of run.follow()) {
    for (const { event } of batch) {
      if (event.type !== "child_end") continue;
      if (event.ending === "completed") completed.add(event.child_id);
    }
  }
  const found = [ending, spent["children"], tool_calls, completed.size].join(" ");
  const wanted = ["completed", CHILDREN, CALLS, CHILDREN].join(" ");
  if (found !== wanted) throw new Error(`The tree ended as ${found} instead of ${wanted}.`);
}

function toRequest(url: string) {
  const tools = ["read", "subagent", "parallel_subagent"];
  return { model: "custom/test", provider: "openai-chat", url, tools };
}
