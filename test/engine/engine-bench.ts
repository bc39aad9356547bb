/**
 * A workplace for engine tests: one store, and engines over it that come and go. An engine made here
 * can crash: from then on its store answers nothing any more, as if the process had been killed.
 */

import { setImmediate } from "node:timers/promises";
import type { Json } from "../../src/base/json.ts";
import type { Engine, RunOutcome } from "../../src/engine/engine.ts";
import { createLocalEngine } from "../../src/engine/local-engine.ts";
import type { LocalEngineOptions } from "../../src/engine/local-engine-options.ts";
import type { LoggedEvent, RunEnd, RunEvent } from "../../src/protocol/run-events.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";
import type { Store } from "../../src/store/store.ts";
import { untilTrue } from "../patience.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

export interface Bench {
  readonly store: Store;
  readonly clock: ManualClock;
  /** An engine that takes all others for dead. */
  engine(options?: Partial<LocalEngineOptions>): CrashingEngine;
  /** Stops what has not crashed, and closes the store. */
  close(): Promise<void>;
}

export interface CrashingEngine extends Engine {
  crash(): void;
}

export async function createBench(createStore: () => Promise<Store>): Promise<Bench> {
  const store = await createStore();
  const clock = createManualClock();
  const engines: { engine: Engine; crashed: boolean }[] = [];
  return {
    store,
    clock,
    engine(options = {}) {
      const entry = { engine: undefined as unknown as Engine, crashed: false };
      const shared = options.store ?? store;
      const mortal = createMortalStore(shared, () => entry.crashed);
      const isAlive = (): boolean => false;
      entry.engine = createLocalEngine({ clock, isAlive, ...options, store: mortal });
      engines.push(entry);
      const crash = (): void => {
        entry.crashed = true;
      };
      return Object.assign(entry.engine, { crash });
    },
    async close() {
      for (const { engine, crashed } of engines) if (!crashed) await engine.stop();
      await store.close();
    },
  };
}

/** The store as one process sees it: it closes only its own view, and dies with the process. */
function createMortalStore(store: Store, isDead: () => boolean): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "close") return async () => {};
      const method = Reflect.get(target, name, target) as (...values: unknown[]) => unknown;
      return (...values: unknown[]) =>
        isDead() ? new Promise(() => {}) : Reflect.apply(method, target, values);
    },
  });
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

/** Lets everything that can go on do so, until the claim holds. */
export async function until(claim: () => boolean | Promise<boolean>): Promise<void> {
  await untilTrue(claim, "what the test claims");
}

/** Lets everything go on that can, when nothing tells when it is done. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await setImmediate();
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

/** The log as short texts: a notice's message, else the event's type. */
export function toTexts(events: readonly LoggedEvent[]): string[] {
  return events.map(({ event }) => (event.type === "notice" ? event.message : event.type));
}

export async function readAll(engine: Engine, id: string, after = -1): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for await (const batch of engine.follow(id, after)) found.push(...batch);
  return found;
}
