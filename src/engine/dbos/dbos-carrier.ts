/**
 * Executes runs as workflows of DBOS. A run that is being executed has a row in DBOS's tables, which names the
 * process; it is removed when the run has ended. The record of runs does not depend on it: a missing row, or one too
 * many, costs only its space (`tidy`).
 *
 * Bodies run in the asynchronous context of their caller, not in that of the workflow: nothing they call counts as a
 * step of it.
 */

import type { Clock } from "../../base/clock.ts";
import { once } from "../../store/once.ts";
import type { Store } from "../../store/store.ts";
import type { Carried, CarriedRun, Carrier } from "../carrier.ts";
import { type DbosHost, type DbosLaunch, isTaken, joinDbos } from "./dbos-host.ts";
import { loadSdk, type Sdk } from "./dbos-sdk.ts";

export interface DbosPlace extends Omit<DbosLaunch, "workerId"> {
  /** Loaded when left out. A test has several in one process. */
  readonly sdk?: Sdk | undefined;
}

interface CarrierParts {
  readonly place: DbosPlace;
  readonly store: Pick<Store, "getRunStatus">;
  readonly clock: Clock;
  readonly workerId: string;
}

/** Rows of runs that have ended are removed together: when there are this many, or this long has passed. */
const FORGET_ROWS = 200;
const FORGET_MS = 1000;
/** How often to look for rows that dead processes have left. */
const TIDY_MS = 60_000;
const TIDY_ROWS = 1000;
/** The longest time that a process which stops waits for DBOS to write its last rows. */
const CLOSE_MS = 5000;
/** How often another process may have started a workflow of this name meanwhile. */
const START_TRIES = 5;

export interface DbosCarrier extends Carrier {
  /** Launches DBOS; otherwise the first run does. */
  open(): Promise<void>;
}

export function createDbosCarrier(parts: CarrierParts): DbosCarrier {
  return new WorkflowCarrier(parts);
}

class WorkflowCarrier implements DbosCarrier {
  readonly #parts: CarrierParts;
  readonly #join: () => Promise<DbosHost>;
  #host: DbosHost | undefined;
  readonly #here = new Set<string>();
  /** Rows that DBOS still writes. */
  readonly #open = new Set<Promise<unknown>>();
  #over: string[] = [];
  #forgetting: NodeJS.Timeout | undefined;
  #tidiedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: CarrierParts) {
    this.#parts = parts;
    const { place, workerId } = parts;
    this.#join = once(async () => {
      const sdk = place.sdk ?? (await loadSdk());
      this.#host = await joinDbos(sdk, { ...place, workerId });
      return this.#host;
    });
  }

  async open(): Promise<void> {
    await this.#join();
  }

  async carry({ id, isNew }: CarriedRun, work: () => Promise<Carried>): Promise<void> {
    const host = await this.#join();
    // The row of the previous owner. Its process is fenced off, and cannot write to the run any more.
    if (!isNew) await host.forget([id]);
    let how: Carried = "left";
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { recorded } = await this.#start(host, id, async () => {
      this.#here.add(id);
      try {
        how = await work();
        return how;
      } finally {
        this.#here.delete(id);
        end();
      }
    });
    this.#open.add(recorded);
    void recorded.then(() => {
      this.#open.delete(recorded);
      // A run that was left may have its next row already.
      if (how === "ended") this.#forget(host, id);
    });
    await ended;
  }

  async tidy(): Promise<void> {
    const host = this.#host;
    const { clock } = this.#parts;
    if (!host || clock.now() - this.#tidiedAt < TIDY_MS) return;
    this.#tidiedAt = clock.now();
    // If the database cannot be reached, the next call tidies.
    await this.#tidy(host).catch(() => {});
  }

  async close(): Promise<void> {
    const host = this.#host;
    if (!host) return;
    this.#host = undefined;
    clearTimeout(this.#forgetting);
    const last = (async () => {
      await Promise.all(this.#open);
      await host.forget(this.#over);
      await host.leave();
    })();
    const over = new AbortController();
    const limit = this.#parts.clock.sleep(CLOSE_MS, over.signal).catch(() => {});
    await Promise.race([last.catch(() => {}), limit]);
    over.abort();
  }

  async #start(
    host: DbosHost,
    id: string,
    work: () => Promise<Carried>,
  ): ReturnType<DbosHost["start"]> {
    for (let tries = 1; ; tries++) {
      try {
        return await host.start(id, work);
      } catch (thrown) {
        if (!isTaken(thrown) || tries === START_TRIES) throw thrown;
        await host.forget([id]);
      }
    }
  }

  #forget(host: DbosHost, id: string): void {
    this.#over.push(id);
    if (this.#over.length >= FORGET_ROWS) void this.#flush(host);
    else this.#forgetting ??= setTimeout(() => void this.#flush(host), FORGET_MS).unref();
  }

  async #flush(host: DbosHost): Promise<void> {
    clearTimeout(this.#forgetting);
    this.#forgetting = undefined;
    const over = this.#over;
    this.#over = [];
    // Rows that stay are found by `tidy`.
    await host.forget(over).catch(() => {});
  }

  async #tidy(host: DbosHost): Promise<void> {
    const over = await host.listOver(TIDY_ROWS);
    for (const id of await host.listElsewhere(TIDY_ROWS)) {
      if (this.#here.has(id)) continue;
      const run = await this.#parts.store.getRunStatus(id);
      if (run?.status !== "running") over.push(id);
    }
    if (over.length > 0) await host.forget(over);
  }
}
