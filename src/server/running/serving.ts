/** One process that answers requests: its socket, app and periodic work. Without a socket it only takes runs over. */

import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { makeWorkerId } from "../../engine/worker.ts";
import type { Cooldown } from "../../providers/deployments/health.ts";
import { createLimitSync, type LimitSync } from "../../providers/limits/limit-sync.ts";
import { createServerLimiters, type Limiters } from "../../providers/limits/limiters.ts";
import { BACKGROUND_QUEUE } from "../../responses/run/background-queue.ts";
import type { PlaceCount } from "../../store/place-count.ts";
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
import {
  type GivenConnections,
  openListener,
  type PortListener,
  type Upgrade,
} from "./listener.ts";
import { refuseOwnAddress, toOwnAddress } from "./own-address.ts";
import { removeOrphans, sweep, sweepBooks } from "./sweep.ts";
import { readTls } from "./tls.ts";

export interface Serving {
  readonly url: string;
  /** Answers requests, for a program that has its own socket. */
  readonly app: App;
  /** The handler of connections that become WebSockets. */
  readonly upgrade: Upgrade;
  /** True if this path has a route, whichever the method. */
  serves(path: string): boolean;
  /** Loads new settings. Resolves with those that need a restart. Rejects if any is invalid. */
  reload(loaded: LoadedServer): Promise<readonly string[]>;
  /** The metrics of this process. */
  metrics(): Metric[];
  /** Waits a while for answers in progress, then closes everything. False if some were interrupted. Once. */
  stop(): Promise<boolean>;
}

export interface ServingParts {
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Closed together with the server. */
  readonly books: Books;
  /** Writes log lines of requests. */
  readonly write: (text: string) => unknown;
  /** The worker's number among several processes; undefined if there is one. */
  readonly worker: number | undefined;
  /** False for a process without a port. True when left out. */
  readonly listens?: boolean | undefined;
  /** The source of connections. A socket of its own when left out. */
  readonly connections?: GivenConnections | undefined;
  /** Collects the metrics of all processes. Of this one when left out. */
  readonly collectMetrics?: (() => Promise<readonly Metric[]>) | undefined;
  /** Counts requests in progress for all processes of this machine. For this one when left out. */
  readonly places?: PlaceCount | undefined;
  /** Shares vendors' limits between the processes of this machine. Each is alone when left out. */
  readonly limits?: VendorLimits | undefined;
  /** Says who makes a request, in place of keys. */
  readonly callerOf?: CallerOf | undefined;
  /** True if the record was found damaged since the start. */
  readonly isDamaged: () => boolean;
  readonly onDefect: (thrown: unknown) => void;
}

/**
 * How often to look for runs whose process has died: each is continued within its lease plus a second.
 */
export const TAKE_OVER_MS = 800;
const SWEEP_MS = 60_000;
/** How often idle connections are closed while the server stops. */
const CLOSE_IDLE_MS = 50;
/** How long interrupted answers may take to send their last event. */
const CUT_MS = 2000;

export async function openServing(loaded: LoadedServer, parts: ServingParts): Promise<Serving> {
  const { env, log } = parts;
  const { clock } = parts.books;
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
  /** Old generations that still have work in progress. */
  readonly #retired = new Set<Generation>();
  readonly #timers: NodeJS.Timeout[] = [];
  #loaded: LoadedServer;
  #current: Generation | undefined;
  #listener: PortListener | undefined;
  #isSweeping = false;
  #isClosing = false;
  #writeRecord: ReturnType<typeof createRequestLog>;

  constructor(loaded: LoadedServer, parts: ServingParts, tracer: RequestTracer | undefined) {
    const { books, worker, write } = parts;
    const { clock } = books;
    const { settings } = loaded;
    this.#parts = parts;
    this.#tracer = tracer;
    this.#loaded = loaded;
    this.#writeRecord = createRequestLog(settings.log, write);
    const rules = { ...settings.guard, catalogue: [] };
    const onUse = createKeyMetrics(this.#registry);
    const places = books.places ?? parts.places;
    const limits = books.limits ?? parts.limits;
    this.#limitSync = limits && createLimitSync({ limits, self: makeWorkerId(), clock });
    this.#limiters = createServerLimiters(this.#limitSync);
    const { callerOf } = parts;
    this.#guard = createGuard({ ...books, places, settings: rules, onUse, callerOf });
    this.#watch = createRequestWatch({
      clock,
      tracer,
      worker,
      registry: this.#registry,
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
    const { clock } = this.#parts.books;
    const orphans = removeOrphans({ shelf, clock, isOver: () => this.#isClosing });
    void orphans.catch((thrown: unknown) =>
      this.#warn("Removing what is left of responses", thrown),
    );
    // Without this first sweep, a process that is restarted often would never sweep.
    void this.#sweep().catch((thrown: unknown) => this.#warn("The first sweep", thrown));
  }

  async reload(loaded: LoadedServer): Promise<readonly string[]> {
    const before = this.#loaded.settings;
    const { settings } = loaded;
    if (before.storePath === undefined || settings.storePath === undefined) {
      const message = "The server keeps its record in memory, so new settings need a restart.";
      throw new Failure("conflict", message);
    }
    // Everything that can be invalid is checked before anything is changed.
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
    const { clock } = this.#parts.books;
    for (const timer of this.#timers) clearInterval(timer);
    // New connections are accepted until the end. They get a 503 for new work, and can still ask for its
    // health.
    const closing = setInterval(() => this.#listener?.closeIdle(), CLOSE_IDLE_MS);
    const generations = [...this.#retired, ...(this.#current ? [this.#current] : [])];
    for (const { responses } of generations) responses.durable.retire();
    const sockets = Promise.all(generations.map((generation) => generation.sockets.drain()));
    const { drainMs } = this.#loaded.settings;
    const answered = this.#drain.begin(drainMs, clock, sockets);
    // Model calls of background responses are finished too. The rest of such a run is left for the next start.
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

  /** Releases everything except the socket. */
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

  /** With port 0 the address is known only now. */
  async #refuseOwnAddress(listener: PortListener): Promise<void> {
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
    const { onDefect } = this.#parts;
    const { clock } = this.#parts.books;
    const generation = await openGeneration(loaded, {
      clock,
      limiters: this.#limiters,
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
    const { write, books } = this.#parts;
    const time = new Date(books.clock.now()).toISOString();
    createTakeoverLog(this.#loaded.settings.log, write)({ time, takeover: id });
  }

  #writeCooldown({ label: cooldown, waitMs, failure }: Cooldown): void {
    const { write, worker, books } = this.#parts;
    const time = new Date(books.clock.now()).toISOString();
    const about = { cooldown, seconds: waitMs / 1000, reason: failure.message };
    createCooldownLog(this.#loaded.settings.log, write)({ time, ...about, worker });
  }

  #retire(old: Generation): void {
    this.#retired.add(old);
    old.responses.durable.retire();
    const close = async (): Promise<void> => {
      await old.idle();
      // The stop of the server may have closed it already.
      if (this.#retired.delete(old)) await old.close();
    };
    void close().catch((thrown: unknown) => this.#warn("An old generation", thrown));
  }

  /** One sweep at a time: a long one must not be overtaken by the next. */
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
    const { log, books } = this.#parts;
    const { clock } = books;
    if (!this.#current) return;
    const { shelf, durable, search } = this.#current.responses;
    const isOver = (): boolean => this.#isClosing;
    await sweep({ shelf, durable, expire: search.expire, clock, log, isOver });
    if (isOver()) return;
    const { auditKeptMs } = this.#loaded.settings;
    await sweepBooks({ ...books, auditKeptMs });
    await this.#guard.budgets.sweep(async (id) => (await durable.status(id))?.status === "running");
  }

  /** Spread in time, so that processes do not all work at the same moment. */
  #every(ms: number, work: () => Promise<unknown>): void {
    const shift = ((this.#parts.worker ?? 0) * 137) % Math.min(ms, 1000);
    const begin = (): void => {
      const again = (): void =>
        void work().catch((thrown: unknown) => this.#warn("Periodic work", thrown));
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

/** Settings that cannot change while the server runs. */
const FIXED = ["host", "port", "workers", "storePath"] as const;

function toText(value: unknown): string {
  return JSON.stringify(value ?? null);
}
