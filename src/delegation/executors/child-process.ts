/**
 * Children in processes of their own: `offshoot subagent`, the payload on its standard input, SSE on its standard
 * output. However the process ends, there is one report, and nothing of it is left running.
 *
 * The input stays open: a child whose input ends knows that its parent is dead, and a child that asks for more budget
 * is answered there. What it asks its parent's model is answered in the record.
 */

import { throwIfAborted } from "../../base/async.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Environment } from "../../base/environment.ts";
import { toFailure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { readDepth, toDepthVariable } from "../../tools/mcp/depth.ts";
import type { ChildOrder, ChildPlaces, Executor } from "../child.ts";
import { encodePlace, type PlaceAsk } from "../place-line.ts";
import type { OpenQuestions } from "../questions.ts";
import { childVariables } from "./child-environment.ts";
import { type PayloadParts, toPayload } from "./child-payload.ts";
import { createChildQuestions } from "./child-questions.ts";
import { type ChildExit, type SeenChild, toReport } from "./child-report.ts";
import { createFrameReader, type FrameLimits, type FrameReader } from "./frame-reader.ts";
import { createPersonAsks, type Person } from "./person-asks.ts";
import { type RunnerProcess, startRunner } from "./runner-process.ts";
import { chargeUpTo, createTopUps } from "./top-ups.ts";

export interface ChildProcessParts extends PayloadParts {
  /** The command that starts a runner: `node cli.js subagent`. */
  readonly command: readonly [string, ...string[]];
  readonly env: Environment;
  /** The names of the variables that a child needs besides the usual ones: above all its key's. */
  variablesFor(task: ChildOrder["task"]): readonly string[];
  /** Signs what limits the child. */
  grantKey(): Promise<Uint8Array>;
  readonly clock: Clock;
  /** Receives what children would ask a person; left out if they may not ask one. */
  readonly person?: Person | undefined;
  /** Receives what children ask their parent; left out if it does not answer. */
  readonly questions?: OpenQuestions | undefined;
  /** Where children of the child find places for their own processes; left out if there are none. */
  readonly places?: ChildPlaces | undefined;
  /** Called each time the child begins to wait for its parent. */
  readonly onQuestion?: (() => void) | undefined;
  /** Gets what children write to standard error. */
  readonly onError?: ((bytes: Uint8Array) => void) | undefined;
  readonly limits?: FrameLimits | undefined;
}

/** The child ends itself at its limit; if it does not, it is ended when this time has passed too. */
const LATE_MS = 5000;
/** How long a child that has delivered its answer may take to exit. */
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
): Promise<SeenChild> {
  const { clock, command: argv, env: all } = parts;
  const { task, timeoutMs } = order;
  const key = await parts.grantKey();
  // The child reads the clock of this machine, and not that of the record.
  const line = JSON.stringify(toPayload(order, parts, { key, nowMs: systemClock.now() }));
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
    // Output of the child in the time it has to exit counts too.
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

/** True if it exits by itself. */
async function leaves(child: RunnerProcess, why: ChildExit): Promise<boolean> {
  if (why === "exited") await child.drained;
  return why === "exited" || (why === "delivered" && (await child.leaves(LINGER_MS)));
}

interface Watch {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly limitMs: number;
  /** How long it has waited for its parent or a person; this time does not count. */
  waitedMs(): number;
}

async function watch(
  child: RunnerProcess,
  { over }: FrameReader,
  { signal, clock, ...limits }: Watch,
): Promise<ChildExit> {
  const done = new AbortController();
  const aborted = new Promise<ChildExit>((resolve) => {
    if (signal.aborted) resolve("aborted");
    signal.addEventListener("abort", () => resolve("aborted"), { signal: done.signal });
  });
  const late = untilLate(clock, limits, done.signal).then((): ChildExit => "late");
  const exited = child.exited.then((): ChildExit => "exited");
  // Another of them may be first; then this one is ended.
  late.catch(() => {});
  try {
    return await Promise.race([over, exited, aborted, late]);
  } finally {
    done.abort();
  }
}

/** The shortest time between two looks while a question is open. */
const LEAST_LOOK_MS = 100;

/** Resolves when the limit has passed, and then the time that questions were open. */
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

/**
 * The last output of a process, for the message when it fails.
 *
 * Enough for the line of an error and what leads to it.
 */
const MAX_BYTES = 8 * 1024;
const MAX_CHARS = 600;

interface Tail {
  push(bytes: Uint8Array): void;
  /** Our own last error line, or the last lines there are; on one line. */
  read(): string;
}

function createTail(): Tail {
  let kept = Buffer.alloc(0);
  return {
    push(bytes) {
      kept = Buffer.concat([kept, bytes]).subarray(-MAX_BYTES);
    },
    read() {
      const lines = kept
        .toString("utf8")
        .split("\n")
        .filter((line) => line.trim() !== "");
      const own = lines.findLast((line) => line.startsWith(LEAD))?.slice(LEAD.length);
      const text = own ?? lines.slice(-3).join(" ");
      // Words of another program must not move the cursor of the terminal that shows them.
      return clip(text.replace(/\p{Cc}+/gu, " "), MAX_CHARS);
    },
  };
}

/** How the command begins a line about what is wrong. */
const LEAD = "offshoot: ";

/** The places that one child process has for children of its own, from those of its parent. */
interface PlaceGrants {
  read(ask: PlaceAsk): void;
  /** Takes all places back: the child has ended. */
  stop(): void;
}

export function createPlaceGrants(
  places: ChildPlaces | undefined,
  write: (line: string) => void,
): PlaceGrants {
  const open = new Map<number, () => void>();

  async function grant(ask: number): Promise<void> {
    const over = new AbortController();
    open.set(ask, () => over.abort());
    const leave = await places?.enter(over.signal);
    if (!leave) return;
    if (over.signal.aborted) return leave();
    open.set(ask, leave);
    write(encodePlace(ask));
  }

  function end(ask: number): void {
    open.get(ask)?.();
    open.delete(ask);
  }

  return {
    read({ ask, isDone }) {
      if (isDone) end(ask);
      // A request that was withdrawn has no place any more.
      else grant(ask).catch(() => {});
    },
    stop() {
      for (const ask of [...open.keys()]) end(ask);
    },
  };
}
