/**
 * One process that answers: its socket, what stands behind it, and what it does by itself meanwhile. One without a
 * socket does only that: it works on what is queued, and goes on with what others have left.
 */

import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { makeWorkerId } from "../../engine/worker.ts";
import type { Cooldown } from "../../providers/deployments/health.ts";
import { createLimitSync, type LimitSync } from "../../providers/limits/limit-sync.ts";
import { createServerLimiters, type Limiters } from "../../providers/limits/limiters.ts";
import { BACKGROUND_QUEUE } from "../../responses/run/background-queue.ts";
import type { PlaceCount } from "../../store/places.ts";
import type { VendorLimits } from "../../store/vendor-limits.ts";
import { VERSION } from "../../version.ts";
import type { App } from "../app.ts";
import { createGuard } from "../guard/create-guard.ts";
import type { CallerOf } from "../guard/own-callers.ts";
import { watchDeployments } from "../watching/deployment-metrics.ts";
import { createKeyMetrics } from "../watching/key-metrics.ts";
import { createRegistry, type Metric } from "../watching/metrics.ts";
import { watchProcess } from "../watching/process-metrics.ts";
import { createCooldownLog, createRequestLog, createTakeoverLog } from "../watching/request-log.ts";
import { openRequestTracer, type RequestTracer } from "../watching/request-trace.ts";
import { createRequestWatch } from "../watching/request-watch.ts";
import { addQueued, createRunMetrics } from "../watching/run-metrics.ts";
import { watchVendors } from "../watching/vendor-metrics.ts";
import type { Books } from "./books.ts";
import { createDrain, type Drain, toCut } from "./drain.ts";
import { type Generation, type LoadedServer, openGeneration } from "./generation.ts";
import { createHealth } from "./health.ts";
import { type GivenConnections, type Listener, openListener, type Upgrade } from "./listener.ts";
import { refuseOwnAddress, toOwnAddress } from "./own-address.ts";
import { removeOrphans, sweep, sweepBooks } from "./sweep.ts";
import { readTls } from "./tls.ts";

export interface Serving {
  readonly url: string;
  /** What it answers requests with, for whoever has a socket of their own. */
  readonly app: App;
  /** Likewise for connections that are to become WebSockets. */
  readonly upgrade: Upgrade;
  /** Whether it has something at this path, whichever the method. */
  serves(path: string): boolean;
  /** What of the new settings takes effect at the next start alone. Rejects, and changes nothing, for what is wrong. */
  reload(loaded: LoadedServer): Promise<readonly string[]>;
  /** Of this process. */
  metrics(): Metric[];
  /** Waits for answers on their way, for a while, and closes everything. False if some were cut. Once. */
  stop(): Promise<boolean>;
}

export interface ServingParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Closed with the server. */
  readonly books: Books;
  /** Where the lines of requests go. */
  readonly write: (text: string) => unknown;
  /** Its number among several processes; undefined where it is alone. */
  readonly worker: number | undefined;
  /** Whether it has a port; it has when left out. */
  readonly listens?: boolean | undefined;
  /** Where connections come from; a socket of its own when left out. */
  readonly connections?: GivenConnections | undefined;
  /** Those of all processes; of this one alone when left out. */
  readonly collectMetrics?: (() => Promise<readonly Metric[]>) | undefined;
  /** Counts requests at once for all processes of this machine; of this one alone when left out. */
  readonly places?: PlaceCount | undefined;
  /** Shares the limits of vendors between the processes of this machine; each is alone when left out. */
  readonly limits?: VendorLimits | undefined;
  /** Says who asks in place of keys. */
  readonly callerOf?: CallerOf | undefined;
  /** Whether the record was found damaged since the start. */
  readonly isDamaged: () => boolean;
  readonly onDefect: (thrown: unknown) => void;
}

/** How often runs are looked for whose process has died: each is gone on with within its lease and a second. */
export const TAKE_OVER_MS = 800;
const SWEEP_MS = 60_000;
/** How often connections are looked at that their clients keep, while the server stops. */
const CLOSE_IDLE_MS = 50;
/** How long answers that were cut may take to say so. */
const CUT_MS = 2000;

export async function openServing(loaded: LoadedServer, parts: ServingParts): Promise<Serving> {
  const { env, clock, log } = parts;
  const tracer = await openRequestTracer(env, { version: VERSION, clock, log });
  const serving = new OneServing(loaded, parts, tracer);
  try {
    await serving.open();
    return serving;
  } catch (thrown) {
    await serving.close();
    throw thrown;
  }
}

class OneServing implements Serving {
  readonly app: App;
  readonly upgrade: Upgrade;
  readonly #parts: ServingParts;
  readonly #tracer: RequestTracer | undefined;
  readonly #registry = createRegistry();
  readonly #runs = createRunMetrics(this.#registry);
  readonly #drain: Drain = createDrain(() => this.#loaded.settings.pathPrefix);
  readonly #guard: ReturnType<typeof createGuard>;
  readonly #watch: ReturnType<typeof createRequestWatch>;
  readonly #limitSync: LimitSync | undefined;
  readonly #limiters: Limiters;
  readonly #unwatchProcess: () => void;
  readonly #unwatchDeployments: () => void;
  /** Old ones that still have something on its way. */
  readonly #retired = new Set<Generation>();
  readonly #timers: NodeJS.Timeout[] = [];
  #loaded: LoadedServer;
  #current: Generation | undefined;
  #listener: Listener | undefined;
  #isSweeping = false;
  #isClosing = false;
  #writeRecord: ReturnType<typeof createRequestLog>;

  constructor(loaded: LoadedServer, parts: ServingParts, tracer: RequestTracer | undefined) {
    const { clock, books, worker, write } = parts;
    const { settings } = loaded;
    this.#parts = parts;
    this.#tracer = tracer;
    this.#loaded = loaded;
    this.#writeRecord = createRequestLog(settings.log, write);
    const rules = { ...settings.guard, catalogue: [] };
    const onUse = createKeyMetrics(this.#registry);
    const [places, limits] = [books.places ?? parts.places, books.limits ?? parts.limits];
    this.#limitSync = limits && createLimitSync({ limits, self: makeWorkerId(), clock });
    this.#limiters = createServerLimiters(this.#limitSync);
    const { callerOf } = parts;
    this.#guard = createGuard({ ...books, clock, places, settings: rules, onUse, callerOf });
    this.#watch = createRequestWatch({
      ...{ clock, tracer, worker, registry: this.#registry },
      log: () => this.#writeRecord,
      factsOf: (id) => this.#runs.take(id),
    });
    this.#unwatchDeployments = watchDeployments(this.#registry, {
      worker: String(worker ?? 1),
      onCooldown: (cooldown) => this.#writeCooldown(cooldown),
    });
    watchVendors(this.#registry, { limiters: this.#limiters, worker: String(worker ?? 1) });
    this.#unwatchProcess = watchProcess(this.#registry, String(worker ?? 1));
    const answer: App = async (request, response) => {
      await this.#current?.app(request, response);
    };
    this.app = this.#drain.watchApp(this.#watch.watchApp(this.#drain.refuseNew(answer)));
    this.upgrade = (...asked) => this.#current?.sockets.upgrade(...asked);
  }

  serves(path: string): boolean {
    return this.#current?.serves(path) ?? false;
  }

  get url(): string {
    return `${this.#listener?.url ?? ""}${this.#loaded.settings.pathPrefix}`;
  }

  metrics(): Metric[] {
    return this.#registry.read();
  }

  async open(): Promise<void> {
    this.#current = await this.#openGeneration(this.#loaded);
    await this.#takeOver();
    if (this.#parts.listens ?? true) await this.#listen();
    this.#every(TAKE_OVER_MS, () => this.#takeOver());
    this.#every(SWEEP_MS, () => this.#sweep());
    const { shelf } = this.#current.responses;
    const { clock } = this.#parts;
    const orphans = removeOrphans({ shelf, clock, isOver: () => this.#isClosing });
    void orphans.catch((thrown: unknown) =>
      this.#warn("Removing what is left of responses", thrown),
    );
    // One that is started often would else never come to it.
    void this.#sweep().catch((thrown: unknown) => this.#warn("The first sweep", thrown));
  }

  async reload(loaded: LoadedServer): Promise<readonly string[]> {
    const [before, { settings }] = [this.#loaded.settings, loaded];
    if (before.storePath === undefined || settings.storePath === undefined) {
      const message = "The server keeps its record in memory, so new settings need a new start.";
      throw new Failure("conflict", message);
    }
    // All that can be wrong comes before anything is changed.
    if (this.#listener) refuseOwnAddress(loaded, toOwnAddress(this.#listener.url));
    const tls = settings.tls && (await readTls(settings.tls));
    const next = await this.#openGeneration(loaded);
    if (tls) this.#listener?.setTls(tls);
    this.#listener?.setLimits(settings.socket);
    this.#writeRecord = createRequestLog(settings.log, this.#parts.write);
    if (this.#current) this.#retire(this.#current);
    this.#current = next;
    this.#loaded = loaded;
    return FIXED.filter((name) => toText(before[name]) !== toText(settings[name]));
  }

  async stop(): Promise<boolean> {
    const { clock } = this.#parts;
    for (const timer of this.#timers) clearInterval(timer);
    // New connections are taken until the end: they are told that it stops, and what else is left to ask.
    const closing = setInterval(() => this.#listener?.closeIdle(), CLOSE_IDLE_MS);
    const generations = [...this.#retired, ...(this.#current ? [this.#current] : [])];
    for (const { responses } of generations) responses.durable.retire();
    const sockets = Promise.all(generations.map((generation) => generation.sockets.drain()));
    const { drainMs } = this.#loaded.settings;
    const answered = this.#drain.begin(drainMs, clock, sockets);
    // Calls of background responses come to their ends too. What does not is left to the next start.
    const engines = generations.map(({ responses }) => responses.durable);
    const rested = Promise.all(engines.map((engine) => engine.drain()));
    const [isClean] = await Promise.all([answered, within(rested, drainMs, clock)]);
    if (!isClean) {
      this.#drain.cut();
      for (const generation of generations) generation.sockets.cut(toCut());
      await this.#drain.begin(CUT_MS, clock, sockets);
    }
    clearInterval(closing);
    for (const generation of generations) generation.sockets.destroy();
    const closed = this.#listener?.close();
    this.#listener?.destroy();
    await closed;
    await this.close();
    return isClean;
  }

  /** Gives everything back but the socket. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const timer of this.#timers) clearInterval(timer);
    const generations = [...this.#retired, ...(this.#current ? [this.#current] : [])];
    for (const generation of generations) await generation.close();
    this.#limitSync?.close();
    this.#unwatchProcess();
    this.#unwatchDeployments();
    await this.#tracer?.close();
    await this.#guard.budgets.flush();
    await this.#parts.books.close();
  }

  async #listen(): Promise<void> {
    const { settings } = this.#loaded;
    const { host, port, socket } = settings;
    const tls = settings.tls && (await readTls(settings.tls));
    const { upgrade, app } = this;
    const listening = { host, port, socket, tls, upgrade, given: this.#parts.connections };
    this.#listener = await openListener(listening, app);
    await this.#refuseOwnAddress(this.#listener);
  }

  /** With port 0 it is known only now. */
  async #refuseOwnAddress(listener: Listener): Promise<void> {
    try {
      refuseOwnAddress(this.#loaded, toOwnAddress(listener.url));
    } catch (thrown) {
      const closed = listener.close();
      listener.destroy();
      await closed;
      throw thrown;
    }
  }

  async #openGeneration(loaded: LoadedServer): Promise<Generation> {
    const { clock, onDefect } = this.#parts;
    const generation = await openGeneration(loaded, {
      ...{ clock, limiters: this.#limiters },
      guard: this.#watch.watchGuard(this.#guard),
      books: this.#parts.books,
      money: {
        spending: this.#parts.books.spending,
        charge: this.#guard.budgets.charge,
        settle: this.#guard.budgets.settle,
        openPurse: this.#guard.budgets.openPurse,
        payerOf: this.#guard.budgets.payerOf,
        enterPlace: this.#guard.enterPlace,
      },
      quotaOf: this.#guard.quotaOf,
      health: createHealth({
        clock,
        isDraining: () => this.#drain.isDraining,
        isDamaged: this.#parts.isDamaged,
        engine: () => (this.#current ?? generation).responses.durable,
      }),
      collectMetrics: async () => {
        const collected = (await this.#parts.collectMetrics?.()) ?? this.metrics();
        const { durable } = (this.#current ?? generation).responses;
        return addQueued(collected, await durable.countWaiting(BACKGROUND_QUEUE));
      },
      watchSocket: this.#watch.watchSocket,
      observe: this.#runs.observe,
      noteUse: this.#runs.note,
      leave: this.#runs.leave,
      onDefect,
    });
    const { catalogue, settings } = generation;
    this.#guard.configure({ ...settings.guard, host: this.#loaded.settings.host, catalogue });
    return generation;
  }

  async #takeOver(): Promise<void> {
    for (const id of (await this.#current?.responses.start()) ?? []) this.#writeTakeover(id);
  }

  #writeTakeover(id: string): void {
    const { clock, write } = this.#parts;
    const time = new Date(clock.now()).toISOString();
    createTakeoverLog(this.#loaded.settings.log, write)({ time, takeover: id });
  }

  #writeCooldown({ label: cooldown, waitMs, failure }: Cooldown): void {
    const { clock, write, worker } = this.#parts;
    const time = new Date(clock.now()).toISOString();
    const about = { cooldown, seconds: waitMs / 1000, reason: failure.message };
    createCooldownLog(this.#loaded.settings.log, write)({ time, ...about, worker });
  }

  #retire(old: Generation): void {
    this.#retired.add(old);
    old.responses.durable.retire();
    const close = async (): Promise<void> => {
      await old.idle();
      // The end of the server may have been faster.
      if (this.#retired.delete(old)) await old.close();
    };
    void close().catch((thrown: unknown) => this.#warn("An old generation", thrown));
  }

  /** One at a time: a long one must not be overtaken by the next. */
  async #sweep(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    try {
      await this.#sweepOnce();
    } finally {
      this.#isSweeping = false;
    }
  }

  async #sweepOnce(): Promise<void> {
    const { clock, log, books } = this.#parts;
    if (!this.#current) return;
    const { shelf, durable, search } = this.#current.responses;
    const isOver = (): boolean => this.#isClosing;
    await sweep({ shelf, durable, expire: search.expire, clock, log, isOver });
    if (isOver()) return;
    const { auditKeptMs } = this.#loaded.settings;
    await sweepBooks({ ...books, auditKeptMs, clock });
    await this.#guard.budgets.sweep(async (id) => (await durable.status(id))?.status === "running");
  }

  /** Not all processes at the same moment. */
  #every(ms: number, work: () => Promise<unknown>): void {
    const shift = ((this.#parts.worker ?? 0) * 137) % Math.min(ms, 1000);
    const begin = (): void => {
      const again = (): void =>
        void work().catch((thrown: unknown) => this.#warn("Something to be done again", thrown));
      this.#timers.push(setInterval(again, ms).unref());
    };
    this.#timers.push(setTimeout(begin, shift).unref());
  }

  #warn(what: string, thrown: unknown): void {
    this.#parts.log.warn(`${what} failed: ${toFailure(thrown).message}`);
  }
}

async function within(work: Promise<unknown>, limitMs: number, clock: Clock): Promise<void> {
  const done = new AbortController();
  await Promise.race([work, clock.sleep(limitMs, done.signal).catch(() => {})]);
  done.abort();
}

/** What is given once. */
const FIXED = ["host", "port", "workers", "storePath"] as const;

function toText(value: unknown): string {
  return JSON.stringify(value ?? null);
}
