/**
 * Several processes that share one port. The primary starts them, replaces each one that dies, gives them connections
 * in turn, passes messages on, counts requests in progress, shares the limits of vendors between them, and adds up
 * their metrics. It answers no request itself.
 */

import cluster, { type Worker } from "node:cluster";
import type { Clock } from "../../base/clock.ts";
import { createMemoryLimits } from "../../store/memory/memory-limits.ts";
import { createPlaceBook } from "../../store/memory/place-book.ts";
import type { VendorLimits } from "../../store/vendor-limits.ts";
import { joinMetrics, type Metric } from "../watching/metrics.ts";
import type { Port } from "./port.ts";
import { createWorkerDeaths, type Death } from "./worker-deaths.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

export interface Workers {
  /**
   * Resolves when the first worker listens, or when one has ended before it could and has said why.
   */
  readonly ready: Promise<Started>;
  reload(): void;
  /** Tells all workers that the record is damaged, also those that start later. */
  tellDamage(): void;
  /** Resolves with the worst of their exit codes when all have ended. */
  stop(): Promise<number>;
  /** Ends all workers at once. */
  kill(): void;
}

export type Started = { readonly url: string } | { readonly exitCode: number };

/** Delays between a death and the replacement: none for the first, longer if workers keep dying. */
const REPLACE_MS = [0, 100, 500, 2000, 5000, 10_000] as const;
/** A worker that lived this long did not fail at its start. */
const HEALTHY_MS = 10_000;
/** A worker that does not send its metrics in this time is left out. */
const MEASURE_MS = 1000;

interface PoolParts {
  readonly count: number;
  /** Closed together with the workers. */
  readonly port: Port;
  readonly clock: Clock;
  /** Called with a line for each worker that dies. */
  readonly tell: (line: string) => unknown;
}

export function startWorkers(parts: PoolParts): Workers {
  return new Pool(parts);
}

class Pool implements Workers {
  readonly ready: Promise<Started>;
  readonly #count: number;
  readonly #port: Port;
  readonly #clock: Clock;
  readonly #tell: (line: string) => unknown;
  readonly #dead = createWorkerDeaths();
  readonly #live = new Set<Worker>();
  readonly #asked = new Map<number, { metrics: (readonly Metric[])[]; settle: () => void }>();
  readonly #places = createPlaceBook<Worker>();
  readonly #limits: VendorLimits;
  readonly #stopped = new AbortController();
  #onStarted: (started: Started) => void = () => {};
  #onEmpty: (() => void) | undefined;
  #isReady = false;
  #isDamaged = false;
  #deaths = 0;
  #questions = 0;
  #exitCode = 0;

  constructor({ count, port, clock, tell }: PoolParts) {
    this.#count = count;
    this.#port = port;
    this.#clock = clock;
    this.#limits = createMemoryLimits(clock);
    this.#tell = tell;
    this.ready = new Promise((resolve) => {
      this.#onStarted = resolve;
    });
    // Only one worker at first: if the settings are invalid, that is said once.
    this.#fork();
  }

  reload(): void {
    this.#tellAll({ type: "reload" });
  }

  tellDamage(): void {
    this.#isDamaged = true;
    this.#tellAll({ type: "damaged" });
  }

  async stop(): Promise<number> {
    this.#stopped.abort();
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    if (this.#live.size > 0) {
      this.#tellAll({ type: "drain" });
      await empty;
    }
    this.#port.close();
    return this.#exitCode;
  }

  kill(): void {
    this.#stopped.abort();
    this.#port.close();
    for (const worker of this.#live) worker.process.kill("SIGKILL");
  }

  #fork(): void {
    const startMs = this.#clock.now();
    const worker = cluster.fork();
    this.#live.add(worker);
    worker.on("message", (message: FromWorker) => this.#hear(worker, message));
    // A message to a worker that is just ending is lost, which is not an error.
    worker.on("error", () => {});
    // Not when it exits: its last message may arrive after that. And not when it is disconnected: Node.js does not
    // report that while a connection is on its way to the worker.
    worker.process.once("close", () => this.#port.leave(worker));
    worker.once("exit", (code: number | null, signal: string | null) => {
      this.#live.delete(worker);
      this.#places.forget(worker);
      this.#bury(worker, { code, signal }, this.#clock.now() - startMs);
    });
  }

  #bury(worker: Worker, exit: Pick<Death, "code" | "signal">, livedMs: number): void {
    const code = exit.code ?? 1;
    if (this.#stopped.signal.aborted) {
      this.#exitCode = Math.max(this.#exitCode, code);
      if (this.#live.size === 0) this.#onEmpty?.();
      return;
    }
    if (!this.#isReady) {
      this.#onStarted({ exitCode: code });
      return;
    }
    this.#deaths = livedMs > HEALTHY_MS ? 0 : this.#deaths + 1;
    const pauseMs = REPLACE_MS[Math.min(this.#deaths, REPLACE_MS.length - 1)] ?? 0;
    const { id, process } = worker;
    this.#tell(this.#dead.add({ worker: id, pid: process.pid, ...exit, pauseMs }));
    this.#clock.sleep(pauseMs, this.#stopped.signal).then(
      () => this.#fork(),
      () => {},
    );
  }

  #hear(worker: Worker, message: FromWorker): void {
    switch (message.type) {
      case "listen":
        // A new worker gets this before its first connection.
        if (this.#isDamaged) tell(worker, { type: "damaged" });
        tell(worker, { type: "listening", port: this.#port.number });
        return this.#port.join(worker);
      case "accepted":
        return this.#port.taken(worker);
      case "closed":
        // A client that connects from now on is refused at once. It would wait until the last worker has ended.
        if (!this.#port.leave(worker) && this.#stopped.signal.aborted) this.#port.close();
        return;
      case "ready":
        if (this.#isReady) return;
        this.#isReady = true;
        for (let at = 1; at < this.#count; at++) this.#fork();
        this.#onStarted({ url: message.url });
        return;
      case "metrics": {
        this.#dead.hear(worker.id, message.metrics);
        const asked = this.#asked.get(message.id);
        asked?.metrics.push(message.metrics);
        if (asked && asked.metrics.length >= this.#live.size) asked.settle();
        return;
      }
      case "take": {
        const { id, key, limit } = message;
        const isTaken = this.#places.take(worker, key, limit);
        return tell(worker, { type: "taken", id, isTaken });
      }
      case "leave":
        return this.#places.leave(worker, message.key);
      case "exchange":
        void this.#limits
          .exchange(message.process, message.reports)
          .then((all) => tell(worker, { type: "exchanged", id: message.id, all }));
        return;
      case "collect":
        void this.#collect().then((metrics) =>
          tell(worker, { type: "collected", id: message.id, metrics }),
        );
    }
  }

  /** Collects the metrics of all workers that answer in time. */
  async #collect(): Promise<readonly Metric[]> {
    const id = this.#questions++;
    const metrics: (readonly Metric[])[] = [];
    const done = new AbortController();
    this.#asked.set(id, { metrics, settle: () => done.abort() });
    this.#tellAll({ type: "measure", id });
    await this.#clock.sleep(MEASURE_MS, done.signal).catch(() => {});
    this.#asked.delete(id);
    return joinMetrics([...metrics, this.#ownMetrics(), this.#dead.metrics()]);
  }

  #ownMetrics(): Metric[] {
    const samples = [{ labels: {}, value: this.#live.size }];
    return [{ name: "offshoot_workers", help: "Processes that answer.", type: "gauge", samples }];
  }

  #tellAll(message: ToWorker): void {
    for (const worker of this.#live) tell(worker, message);
  }
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}
