/** The test bench of the local engine: its record is a store, and faults are those of the store. */

import type { Engine } from "../../src/engine/engine.ts";
import { createLocalEngine } from "../../src/engine/local-engine.ts";
import type { LocalEngineOptions } from "../../src/engine/local-engine-options.ts";
import { createMemorySpending } from "../../src/store/memory/memory-spending.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Spending } from "../../src/store/spending.ts";
import type { Store } from "../../src/store/store.ts";
import {
  asked,
  type Bench,
  type BenchEngineOptions,
  type CrashingEngine,
  type Faults,
  settle,
} from "./engine-fixture.ts";
import { createManualClock } from "./manual-clock.ts";

export interface LocalBench extends Bench {
  readonly store: Store;
  engine(options?: LocalBenchOptions): CrashingEngine;
}

type LocalBenchOptions = BenchEngineOptions & Partial<Omit<LocalEngineOptions, "isAlive">>;

/** What the engines of a bench keep, which the bench closes. */
export interface BenchRecord {
  readonly store: Store;
  readonly spending: Spending;
  close(): Promise<void>;
}

/** The process that an engine represents. */
export interface MortalProcess {
  isDead(): boolean;
  /** Calls `work` when it is killed. */
  onDeath(work: () => void): void;
}

export type CreateEngine = (options: LocalEngineOptions, process: MortalProcess) => Engine;

export async function openLocalBench(
  open: () => Promise<BenchRecord>,
  create: CreateEngine = createLocalEngine,
): Promise<LocalBench> {
  const { store, spending, close } = await open();
  const clock = createManualClock();
  const engines: { engine: Engine; crashed: boolean }[] = [];
  return {
    store,
    clock,
    record: store,
    engine({ faults = {}, ...options } = {}) {
      const state = { crashed: false };
      const shared = withFaults(options.store ?? store, faults);
      const isDead = (): boolean => state.crashed;
      const deaths: (() => void)[] = [];
      const onDeath = (work: () => void): void => void deaths.push(work);
      const mortal = createMortalStore(shared, isDead);
      const isAlive = (): boolean => false;
      const process = { isDead, onDeath };
      const engine = create({ clock, isAlive, ...options, store: mortal }, process);
      engines.push(Object.assign(state, { engine }));
      const crash = (): void => {
        state.crashed = true;
        for (const work of deaths) work();
      };
      return Object.assign(engine, { crash });
    },
    countSteps: async (id) => (await store.readSteps(id)).size,
    readBooked: async (keyId) => (await spending.read(keyId, 0)).total.tokens,
    async close() {
      for (const { engine, crashed } of engines) if (!crashed) await engine.stop();
      await close();
    },
  };
}

/** A record in memory over a store of the test's own. */
export async function openMemoryRecord(store = createMemoryStore()): Promise<BenchRecord> {
  return { store, spending: createMemorySpending(store), close: () => store.close() };
}

/** The store as one process sees it: it closes only its own view, and dies with the process. */
function createMortalStore(store: Store, isDead: () => boolean): Store {
  return wrapStore(store, (name, call) => {
    if (name === "close") return async () => {};
    return (...values) => (isDead() ? new Promise(() => {}) : call(...values));
  });
}

function withFaults(
  given: Store,
  { slowLog, hangsTaking, losesPlaces, refuseEnding, loseAnswer }: Faults,
): Store {
  const asks = losesPlaces ? withLostPlaces(given, losesPlaces) : given;
  const store = loseAnswer ? withLostAnswers(asks, loseAnswer) : asks;
  return wrapStore(store, (name, call) => async (...values) => {
    const refusal = name === "finish" ? refuseEnding?.() : undefined;
    if (refusal) throw refusal;
    if (name === "append" && slowLog) await settle();
    const made = await count(call, values);
    if (name === "takeSignal" && hangsTaking && made !== undefined) await new Promise(() => {});
    return made;
  });
}

/** Each run with a place in a queue is written twice, as when the answer to the first write was lost. */
function withLostPlaces(store: Store, between: () => Promise<void>): Store {
  return wrapStore(store, (name, call) => async (...values) => {
    if (name !== "createQueued") return await call(...values);
    await call(...values);
    await between();
    return await call(...values);
  });
}

/** Writes are carried out, and their callers are told otherwise. */
function withLostAnswers(store: Store, lose: NonNullable<Faults["loseAnswer"]>): Store {
  return wrapStore(store, (name, call) => async (...values) => {
    const made = await call(...values);
    const lost = lose(name);
    if (lost) throw lost;
    return made;
  });
}

export async function count(call: Call, values: unknown[]): Promise<unknown> {
  asked.count++;
  try {
    return await call(...values);
  } finally {
    asked.count--;
  }
}

export type Call = (...values: unknown[]) => unknown;

/** `wrap` gets each method that is called with its name, and returns the one to call. */
export function wrapStore(store: Store, wrap: (name: string, call: Call) => Call): Store {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name, target) as Call | object | undefined;
      if (typeof method !== "function") return method;
      return wrap(String(name), (...values) => Reflect.apply(method, target, values));
    },
  });
}

/** A store without news, so that processes have to poll and a test knows how long that takes. */
export function withoutNews(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name, target) as Call | object | undefined;
      if (typeof method !== "function") return undefined;
      return (...values: unknown[]) => Reflect.apply(method, target, values);
    },
  });
}
