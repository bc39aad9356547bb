/**
 * A test bench for engines: engines over one record that come and go. The suites of the contract see no more of it
 * than this, so that every engine can run them; each has a file that opens its own (`local-fixture.ts`).
 */

import { setImmediate } from "node:timers/promises";
import type { Failure } from "../../src/base/failure.ts";
import type { Json } from "../../src/base/json.ts";
import type { Engine, RecordReader, RunOutcome } from "../../src/engine/engine.ts";
import type { LoggedEvent, RunEnd, RunEvent } from "../../src/protocol/run-events.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";
import { untilTrue } from "../patience.ts";
import type { ManualClock } from "./manual-clock.ts";

export interface Bench {
  readonly clock: ManualClock;
  /** The record of runs, as a process sees it that runs nothing. */
  readonly record: RecordReader;
  /** An engine that believes all others are dead, unless `isAlive` says otherwise. */
  engine(options?: BenchEngineOptions): CrashingEngine;
  /** How many finished steps of a run are in its journal. */
  countSteps(id: string): Promise<number>;
  /** How many tokens are booked on a key. */
  readBooked(keyId: string): Promise<number>;
  /** Stops the engines that have not crashed. */
  close(): Promise<void>;
}

export type OpenBench = () => Promise<Bench>;

/** Tests on a bench of their own, which is closed however they end: anything left open keeps the process alive. */
export function onBenches<One extends Bench>(
  open: () => Promise<One>,
): (test: (bench: One) => Promise<void>) => () => Promise<void> {
  return (test) => async () => {
    const bench = await open();
    try {
      await test(bench);
    } finally {
      await bench.close();
    }
  };
}

export interface BenchEngineOptions {
  readonly workerId?: string | undefined;
  /** True if another owner lives; the engine finds out by itself if this is given as undefined. */
  readonly isAlive?: ((worker: { readonly id: string }) => boolean) | undefined;
  readonly faults?: Faults | undefined;
}

/** Faults between an engine and its record. */
export interface Faults {
  /** Events are written later than everything else. */
  readonly slowLog?: boolean | undefined;
  /** The process hangs right after it has taken a message. */
  readonly hangsTaking?: boolean | undefined;
  /** The answer to each write of a run with its place in a queue is lost; called before the process writes again. */
  readonly losesPlaces?: (() => Promise<void>) | undefined;
  /** Why an ending cannot be written; undefined where it can. */
  readonly refuseEnding?: (() => Failure | undefined) | undefined;
  /** What a caller of the store's method is told after the write was carried out; undefined for the answer. */
  readonly loseAnswer?: ((method: string) => Failure | undefined) | undefined;
}

export interface CrashingEngine extends Engine {
  /** From here on it writes and reads nothing, as if its process had been killed. */
  crash(): void;
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Lets everything continue that can, until the claim holds. */
export async function until(claim: () => boolean | Promise<boolean>): Promise<void> {
  await untilTrue(claim, "what the test claims");
}

/**
 * Turns the clock until the work is done: on a busy machine, what waits for the clock may begin to wait only after a
 * turn.
 */
export async function turnUntil<Out>(
  { clock }: Pick<Bench, "clock">,
  work: Promise<Out>,
  ms = 250,
): Promise<Out> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  // Also where it fails before the last look.
  done.catch(() => {});
  await until(() => {
    if (!isDone) clock.advance(ms);
    return isDone;
  });
  return await done;
}

/** Queries to a remote record that have no answer yet: their callers continue with it. */
export const asked = { count: 0 };

/** Lets everything continue that can, if there is no event to wait for. */
export async function settle(): Promise<void> {
  for (let quiet = 0; quiet < 100; quiet++) {
    await setImmediate();
    if (asked.count > 0) quiet = 0;
  }
}

export function completed(result: Json): RunOutcome {
  const end: RunEnd = {
    type: "run_end",
    ending: "completed",
    message: "",
    output_text: "",
    output_json: null,
    error: null,
    turns: 0,
    tool_calls: 0,
    usage: NO_USAGE,
    cost_usd: null,
    spent: {},
    at_ms: 0,
  };
  return { ending: "completed", result, events: [end] };
}

export function notice(message: string): RunEvent {
  return { type: "notice", code: "wait", message };
}

/** The log as short texts: a notice's message, otherwise the event's type. */
export function toTexts(events: readonly LoggedEvent[]): string[] {
  return events.map(({ event }) => (event.type === "notice" ? event.message : event.type));
}

export async function readAll(engine: Engine, id: string, after = -1): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for await (const batch of engine.follow(id, after)) found.push(...batch);
  return found;
}
