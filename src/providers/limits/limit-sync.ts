/**
 * Keeps the limiters of this process in step with those of others that use the same accounts: about once a second
 * while there is something to do, and at once after an overload or a wait that the vendor asks for.
 *
 * No call waits for it. While the others cannot be asked, each process goes on by itself: a vendor that is asked too
 * much says so.
 */

import type { Clock } from "../../base/clock.ts";
import type { LimitReport, LimitStanding, VendorLimits } from "../../store/vendor-limits.ts";
import type { LimitNews } from "./adaptive-limit.ts";

/** The limiter of one account, as it is kept in step. */
export interface SharedLimiter {
  readonly demand: number;
  /** What it has learned; `pauseMs` is what the vendor asked for since it was last asked here. */
  report(): LimitNews & { readonly pauseMs: number };
  adopt(all: LimitStanding, told: LimitNews, self: string): void;
  /** Nobody tells what the others need. */
  standAlone(): void;
}

/** Of one account. */
export interface SharedAccount {
  /** It has a call. */
  use(): void;
  /** The others should know this soon. */
  tell(): void;
}

export interface LimitSync {
  /** From its next call on, in place of an earlier limiter of the account. */
  join(account: string, limiter: SharedLimiter): SharedAccount;
  /** Tells and asks nothing any more. */
  close(): void;
}

export interface LimitSyncParts {
  readonly limits: VendorLimits;
  /** The id of this process: no other has it. */
  readonly self: string;
  readonly clock: Clock;
}

const EVERY_MS = 1000;
/** The others forget this process when they hear nothing for so long; so does it with them. */
const SILENCE_MS = 5000;
/** Between two exchanges, however much there is to tell. */
const GAP_MS = 50;
/** For so many exchanges an account without calls is kept in step: its next call finds a wait that others were told. */
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
      const [entry, news] = [this.#active.get(standing.account), told.get(standing.account)];
      if (entry && news) entry.limiter.adopt(standing, news, this.#self);
    }
    for (const [account, entry] of entries) {
      entry.idle = entry.limiter.demand > 0 ? 0 : entry.idle + 1;
      if (entry.idle > IDLE_EXCHANGES) this.#active.delete(account);
    }
  }

  /** An answer that is late still counts. */
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
      answered.abort();
    }
  }
}
