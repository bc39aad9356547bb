/**
 * Shares the limiters of this process with other processes that use the same accounts: about once a second
 * while there is something to do, and at once after an overload or a wait that the vendor asks for.
 *
 * No call waits for it. While the others cannot be reached, each process continues alone: a vendor that
 * gets too many calls refuses them.
 */

import { WAIT_OVER } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import type { LimitReport, LimitStanding, VendorLimits } from "../../store/vendor-limits.ts";
import type { LimitNews } from "./adaptive-limit.ts";

/** The limiter of one account, as the exchange sees it. */
export interface SharedLimiter {
  readonly demand: number;
  /** The news of this limiter. `pauseMs` is the wait that the vendor asked for since the last report. */
  report(): LimitNews & { readonly pauseMs: number };
  adopt(all: LimitStanding, told: LimitNews, self: string): void;
  /** Called when the needs of the others are not known. */
  standAlone(): void;
}

/** One account in the exchange. */
export interface SharedAccount {
  /** Call it when the account has a call. */
  use(): void;
  /** Call it when the others should know a change soon. */
  tell(): void;
}

export interface LimitSync {
  /** Adds a limiter, which is used from its next call on. It replaces an earlier one of the account. */
  join(account: string, limiter: SharedLimiter): SharedAccount;
  /** Ends the exchange. */
  close(): void;
}

export interface LimitSyncParts {
  readonly limits: VendorLimits;
  /** The id of this process, which no other has. */
  readonly self: string;
  readonly clock: Clock;
}

const EVERY_MS = 1000;
/** After this silence the others forget this process, and it forgets them. */
const SILENCE_MS = 5000;
/** The least time between two exchanges. */
const GAP_MS = 50;
/**
 * How many exchanges an account without calls stays in the exchange, so that its next call knows about a
 * wait that others were asked for.
 */
const IDLE_EXCHANGES = 30;

export function createLimitSync(parts: LimitSyncParts): LimitSync {
  return new Sync(parts);
}

interface Entry {
  readonly limiter: SharedLimiter;
  idle: number;
}

class Sync implements LimitSync {
  readonly #limits: VendorLimits;
  readonly #self: string;
  readonly #clock: Clock;
  /** Accounts that are in use. */
  readonly #active = new Map<string, Entry>();
  #isRunning = false;
  /** Ends the wait for the next exchange. */
  #wake: AbortController | undefined;
  #isUrgent = false;
  readonly #closed = new AbortController();

  constructor({ limits, self, clock }: LimitSyncParts) {
    this.#limits = limits;
    this.#self = self;
    this.#clock = clock;
  }

  join(account: string, limiter: SharedLimiter): SharedAccount {
    const entry: Entry = { limiter, idle: 0 };
    const isActive = (): boolean => this.#active.get(account) === entry;
    return {
      use: () => {
        if (isActive() || this.#closed.signal.aborted) return;
        entry.idle = 0;
        this.#active.set(account, entry);
        this.#hurry();
      },
      tell: () => {
        if (isActive()) this.#hurry();
      },
    };
  }

  close(): void {
    this.#active.clear();
    this.#closed.abort();
    this.#wake?.abort();
  }

  #hurry(): void {
    this.#isUrgent = true;
    this.#wake?.abort();
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run().finally(() => {
      this.#isRunning = false;
    });
  }

  async #run(): Promise<void> {
    while (this.#active.size > 0) {
      this.#isUrgent = false;
      await this.#exchange();
      await this.#clock.sleep(GAP_MS, this.#closed.signal).catch(() => {});
      if (!this.#isUrgent) await this.#waitForNext();
    }
  }

  async #waitForNext(): Promise<void> {
    const wake = new AbortController();
    this.#wake = wake;
    await this.#clock.sleep(EVERY_MS - GAP_MS, wake.signal).catch(() => {});
    this.#wake = undefined;
  }

  async #exchange(): Promise<void> {
    const entries = [...this.#active];
    const told = new Map<string, LimitNews>();
    const reports = entries.map(([account, { limiter }]): LimitReport => {
      const { pauseMs, ...news } = limiter.report();
      told.set(account, news);
      return { account, demand: limiter.demand, ...news, pauseMs };
    });
    for (const standing of (await this.#ask(entries, reports)) ?? []) {
      const entry = this.#active.get(standing.account);
      const news = told.get(standing.account);
      if (entry && news) entry.limiter.adopt(standing, news, this.#self);
    }
    for (const [account, entry] of entries) {
      entry.idle = entry.limiter.demand > 0 ? 0 : entry.idle + 1;
      if (entry.idle > IDLE_EXCHANGES) this.#active.delete(account);
    }
  }

  /** Asks the others. An answer that is late still counts. */
  async #ask(
    entries: readonly (readonly [string, Entry])[],
    reports: readonly LimitReport[],
  ): Promise<readonly LimitStanding[] | undefined> {
    const standAlone = (): void => {
      for (const [, { limiter }] of entries) limiter.standAlone();
    };
    const answered = new AbortController();
    this.#clock.sleep(SILENCE_MS, answered.signal).then(standAlone, () => {});
    try {
      return await this.#limits.exchange(this.#self, reports);
    } catch {
      standAlone();
      return undefined;
    } finally {
      answered.abort(WAIT_OVER);
    }
  }
}
