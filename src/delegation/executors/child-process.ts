/**
 * Children in processes of their own: `offshoot subagent`, the payload on its standard input, SSE on
 * its standard output. Whatever becomes of the process there is one report, and nothing of it is left.
 *
 * The input stays open: a child whose input ends knows that its parent is dead, and one that asks for
 * more of the budget is answered there. What it asks its parent's model is answered in the record.
 */

import { throwIfAborted } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import { toFailure } from "../../base/failure.ts";
import { readDepth, toDepthVariable } from "../../tools/mcp/depth.ts";
import type { Variables } from "../../tools/sandbox/environment.ts";
import type { ChildOrder, Executor, Places } from "../child.ts";
import type { OpenQuestions } from "../questions.ts";
import { childVariables } from "./child-environment.ts";
import { type PayloadParts, toPayload } from "./child-payload.ts";
import { createChildQuestions } from "./child-questions.ts";
import { type Seen, toReport, type Why } from "./child-report.ts";
import { createFrameReader, type FrameLimits, type FrameReader } from "./frame-reader.ts";
import { createPersonAsks, type Person } from "./person-asks.ts";
import { createPlaceGrants } from "./place-grants.ts";
import { type RunnerProcess, startRunner } from "./runner-process.ts";
import { createTail } from "./tail.ts";
import { chargeUpTo, createTopUps } from "./top-ups.ts";

export interface ChildProcessParts extends PayloadParts {
  /** What starts a runner: `node cli.js subagent`. */
  readonly command: readonly [string, ...string[]];
  readonly env: Variables;
  /** The names of the variables a child needs beside the usual ones: its key's above all. */
  variablesFor(task: ChildOrder["task"]): readonly string[];
  /** Signs what bounds the child. */
  grantKey(): Promise<Uint8Array>;
  readonly clock: Clock;
  /** Hears what children would ask a person; left out where they ask nobody. */
  readonly person?: Person | undefined;
  /** Where what children ask is heard; left out where nobody answers. */
  readonly questions?: OpenQuestions | undefined;
  /** Where those below children find places for processes of their own; left out where there are none. */
  readonly places?: Places | undefined;
  /** Called each time the child begins to wait for its parent. */
  readonly onQuestion?: (() => void) | undefined;
  /** Gets what children write to standard error. */
  readonly onError?: ((bytes: Uint8Array) => void) | undefined;
  readonly limits?: FrameLimits | undefined;
}

/** The child ends itself at its limit; one that does not is ended when this is over too. */
const LATE_MS = 5000;
/** How long one that has delivered may take to leave. */
const LINGER_MS = 2000;
const MAX_TIMER_MS = 2 ** 31 - 1;

export function createChildProcessExecutor(parts: ChildProcessParts): Executor {
  return {
    async run(order, signal) {
      throwIfAborted(signal);
      const id = `${parts.parent.id}/${order.key}`;
      const seen = await runChild(order, parts, signal);
      const report = toReport(id, order, seen);
      chargeUpTo(order.account, report.spent);
      return report;
    },
  };
}

async function runChild(
  order: ChildOrder,
  parts: ChildProcessParts,
  signal: AbortSignal,
): Promise<Seen> {
  const { clock, command: argv, env: all } = parts;
  const { task, timeoutMs } = order;
  const key = await parts.grantKey();
  const line = JSON.stringify(toPayload(order, parts, { key, nowMs: clock.now() }));
  const named = childVariables(all, parts.variablesFor(task));
  const env = { ...named, ...toDepthVariable(Math.max(readDepth(all), task.mcp_depth ?? 0)) };
  const write = (answer: string): void => child.write(answer);
  const topUps = createTopUps(order.account, write, signal);
  const asks = createPersonAsks(parts.person, { clock, write });
  const id = `${parts.parent.id}/${order.key}`;
  const questions = createChildQuestions(id, order.account, parts);
  const grants = createPlaceGrants(parts.places, write);
  const frames = createFrameReader(parts.limits, {
    onTopUp: topUps.answer,
    onQuestion: questions.hear,
    onPersonAsk: asks.read,
    onPlace: grants.read,
  });
  const said = createTail();
  const listening = {
    onOutput: frames.push,
    onError(bytes: Uint8Array) {
      said.push(bytes);
      parts.onError?.(bytes);
    },
  };
  let child: RunnerProcess;
  try {
    child = await startRunner({ argv, cwd: task.root, env, line }, listening, clock);
  } catch (thrown) {
    const { message } = toFailure(thrown);
    return { heard: frames.heard, said: message, exit: undefined, why: "not_started" };
  }
  asks.start();
  order.onStart?.();
  try {
    const waitedMs = (): number => asks.waitedMs() + questions.waitedMs();
    const limits = { limitMs: timeoutMs + LATE_MS, waitedMs };
    const why = await watch(child, frames, { signal, clock, ...limits });
    // What it still says in the time it is given to end counts too.
    const hasLeft = await leaves(child, why);
    await child.end();
    frames.end();
    const exit = hasLeft ? await child.exited : undefined;
    return { heard: frames.heard, said: said.read(), exit, why };
  } finally {
    topUps.stop();
    asks.stop();
    questions.stop();
    grants.stop();
    await child.end();
  }
}

/** Whether it comes to an end by itself. */
async function leaves(child: RunnerProcess, why: Why): Promise<boolean> {
  if (why === "exited") await child.drained;
  return why === "exited" || (why === "delivered" && (await child.leaves(LINGER_MS)));
}

interface Watch {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly limitMs: number;
  /** How long it has waited for its parent or a person, which does not count. */
  waitedMs(): number;
}

async function watch(
  child: RunnerProcess,
  { over }: FrameReader,
  { signal, clock, ...limits }: Watch,
): Promise<Why> {
  const done = new AbortController();
  const aborted = new Promise<Why>((resolve) => {
    if (signal.aborted) resolve("aborted");
    signal.addEventListener("abort", () => resolve("aborted"), { signal: done.signal });
  });
  const late = untilLate(clock, limits, done.signal).then((): Why => "late");
  const exited = child.exited.then((): Why => "exited");
  // It is ended where another of them is first.
  late.catch(() => {});
  try {
    return await Promise.race([over, exited, aborted, late]);
  } finally {
    done.abort();
  }
}

/** How often to look again while somebody is asked, at most. */
const LEAST_LOOK_MS = 100;

/** Passes when the limit is over, and then the time that questions were open. */
async function untilLate(
  clock: Clock,
  { limitMs, waitedMs }: Pick<Watch, "limitMs" | "waitedMs">,
  signal: AbortSignal,
): Promise<void> {
  let before = 0;
  for (let leftMs = limitMs; ; ) {
    await clock.sleep(Math.min(leftMs, MAX_TIMER_MS), signal);
    const waited = waitedMs();
    if (waited === before) return;
    leftMs = Math.max(waited - before, LEAST_LOOK_MS);
    before = waited;
  }
}
