/**
 * Shows a run to the calls of an MCP client: what it does now, what it has cost, and its answer. A call waits for as
 * long as its client tolerates, and then says that the run continues.
 */

import type { Clock } from "../../base/clock.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { clip, plural, toUsd } from "../../base/text.ts";
import { createOpenToolQuestions } from "../../protocol/open-questions.ts";
import type { LoggedEvent, RunEnd, RunEvent } from "../../protocol/run-events.ts";
import type { DeskRun } from "./desk.ts";

/**
 * A client that restarts its timer with each progress message does not give up, if messages come this often. The
 * shortest timeouts in use are 5 seconds.
 */
const PROGRESS_MS = 2000;

export interface RunWait {
  readonly clock: Clock;
  /** Undefined to wait until the run has ended. */
  readonly waitMs: number | undefined;
  /** Aborted when the client cancels its call, or goes. */
  readonly signal: AbortSignal;
  /** Aborted when waiting must end: the answer then shows the run as it is. */
  readonly hurry?: AbortSignal | undefined;
  /** Called at once with what happens, and then every few seconds. The number grows each time. */
  readonly tell?: ((done: number, what: string) => Promise<void>) | undefined;
  /** Called with all events of the run and of all runs below it, from their beginning. */
  readonly observe?: ((batch: readonly LoggedEvent[]) => void) | undefined;
}

export interface WatchedRun {
  readonly text: string;
  readonly structured: JsonObject;
  readonly isError: boolean;
}

/** Rejects when the signal aborts. */
export async function watchRun(run: DeskRun, waiting: RunWait): Promise<WatchedRun> {
  const { clock, waitMs, signal, hurry, observe } = waiting;
  const seen = createSeen();
  const late = new AbortController();
  const over = hurry ? AbortSignal.any([late.signal, hurry]) : late.signal;
  const stop = AbortSignal.any([signal, over]);
  const tell = createTell(waiting, run.id, seen);
  const stopTimers = [
    ...(waitMs === undefined ? [] : [after(clock, waitMs, () => late.abort())]),
    ...(tell ? [every(clock, PROGRESS_MS, tell)] : []),
  ];
  tell?.();
  try {
    for await (const batch of run.follow(stop)) {
      seen.read(run.id, batch);
      observe?.(batch);
    }
  } catch (thrown) {
    if (!over.aborted || signal.aborted) throw thrown;
  } finally {
    for (const stopTimer of stopTimers) stopTimer();
  }
  signal.throwIfAborted();
  return seen.end ? toEnded(run.id, seen.end) : toRunning(run.id, seen);
}

/** The first message names the run, for a client that gives up before the run has ended. */
function createTell({ tell }: RunWait, id: string, seen: Seen): (() => void) | undefined {
  if (!tell) return undefined;
  let told = -1;
  return () => {
    const isFirst = told < 0;
    told = Math.max(told + 1, seen.events);
    // If the client has gone, its call ends by itself.
    void tell(told, isFirst ? `${id}: ${seen.what}` : seen.what).catch(() => {});
  };
}

interface Seen {
  /** Number of events so far. */
  readonly events: number;
  readonly what: string;
  readonly usd: number;
  readonly end: RunEnd | undefined;
  read(id: string, batch: readonly LoggedEvent[]): void;
}

function createSeen(): Seen {
  const questions = createOpenToolQuestions();
  let events = 0;
  // A run in a queue writes its first event when it has its turn.
  let what = "queued";
  let usd = 0;
  let end: RunEnd | undefined;
  return {
    get events() {
      return events;
    },
    get what() {
      const [open] = questions.open;
      return open ? `waits for approval: ${open.name}` : `${what}, ${toUsd(usd)}`;
    },
    get usd() {
      return usd;
    },
    get end() {
      return end;
    },
    read(id, batch) {
      for (const { run_id, event } of batch) {
        events += 1;
        what = describe(event) ?? what;
        if (event.type === "turn_end") usd += event.cost_usd ?? 0;
        if (run_id !== id) continue;
        questions.read(event);
        if (event.type === "run_end") end = event;
      }
    },
  };
}

/** Says in words for a person what the run does now; undefined if nothing new is done. */
function describe(event: RunEvent): string | undefined {
  switch (event.type) {
    case "run_start":
      return "starting";
    case "turn_start":
      return `turn ${event.turn}`;
    case "tool_start":
      return `calls ${event.name}`;
    case "child_start":
      return `subagent ${clip(event.label, 60)}`;
    default:
      return undefined;
  }
}

function toRunning(run_id: string, { what, usd }: Seen): WatchedRun {
  const text = `Still running (${what}). Call run_result with run_id "${run_id}" to wait for the answer, run_cancel to stop it.`;
  return { text, structured: { run_id, ending: null, cost_usd: usd }, isError: false };
}

function toEnded(run_id: string, end: RunEnd): WatchedRun {
  const { ending, message, output_text, output_json, cost_usd, turns } = end;
  const isDone = ending === "completed";
  const head = isDone ? "" : `Ended: ${ending}. ${message}\n\n`;
  const rest = output_text === "" && isDone ? "It ended without a text." : output_text;
  const tail = `\n\n[run_id ${run_id}, ${plural(turns, "turn")}, ${cost_usd === null ? "cost unknown" : toUsd(cost_usd)}]`;
  return {
    text: head + rest + tail,
    structured: {
      run_id,
      ending,
      cost_usd,
      ...(message === "" ? {} : { message }),
      ...(isJsonObject(output_json) ? { output: output_json } : {}),
    },
    // Partial work is marked as such: a client must not take it for the answer.
    isError: !isDone,
  };
}

function after(clock: Clock, ms: number, call: () => void): () => void {
  const done = new AbortController();
  clock.sleep(ms, done.signal).then(call, () => {});
  return () => done.abort();
}

function every(clock: Clock, ms: number, call: () => void): () => void {
  const done = new AbortController();
  const go = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(ms, done.signal);
      call();
    }
  };
  go().catch(() => {});
  return () => done.abort();
}
