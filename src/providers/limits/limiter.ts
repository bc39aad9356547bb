/**
 * How many calls one account has in flight at a vendor, and who goes next.
 *
 * The limit grows while the vendor takes what it is sent and is halved when it says that it is
 * overloaded. A wait that it asks one call for is that call's; once it refuses the next one too, or says
 * that the account is used up, the wait holds for everybody. Calls are limited, not runs: a call holds
 * its slot until its answer has ended, and a run that waits for its children holds none.
 *
 * Processes that use the same account may share its limit (`limit-sync.ts`): each has a part of it then.
 */

import { throwIfAborted, toAbortFailure } from "../../base/async.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { MODEL_RETRY } from "../../base/retry.ts";
import type { LimitStanding } from "../../store/vendor-limits.ts";
import type { ModelCall } from "../provider.ts";
import { AdaptiveLimit, type LimitNews } from "./adaptive-limit.ts";
import { createFairQueue, type Place } from "./fair-queue.ts";
import type { SharedAccount, SharedLimiter } from "./limit-sync.ts";

/**
 * Most accounts take this many at once. One that takes fewer refuses some, and the limit is halved: a small
 * server has its share after two or three refusals, which are tried again. 100 subagents then ask in one
 * round and not in two, which is 0.2 s for a model that needs that long (bench/delegation.ts). More would be
 * more than many servers let wait for a connection: 128 is their usual backlog.
 */
export const START_LIMIT = 128;
/** Past this the process is busy reading streams, and a vendor that takes more is not the limit. */
export const MAX_LIMIT = 256;

/** Waits grow by up to this share of theirs, so that processes which were told the same do not meet. */
const JITTER = 0.1;
/** A wait shorter than this is not worth a line to a person; a longer one is told of again. */
const NOTICE_AFTER_MS = 1000;
const NOTICE_EVERY_MS = 15_000;
/** Vendors count by the minute: one that took a call within the last one is busy, not down. */
const RECENT_MS = 60_000;

export interface LimiterOptions {
  /** The vendor's name, for messages. */
  readonly vendor: string;
  readonly clock?: Clock | undefined;
  /** 0 to 1. */
  readonly random?: (() => number) | undefined;
  /** While the vendor asks for a longer wait than this, calls fail at once in place of waiting. */
  readonly maxPauseMs?: number | undefined;
  /** How many calls may be in flight before anything is known of the vendor. */
  readonly startLimit?: number | undefined;
  /** How many at most, however well it goes. */
  readonly maxLimit?: number | undefined;
  /** Keeps the limiter in step with those of other processes. Alone when left out. */
  readonly join?: ((limiter: SharedLimiter) => SharedAccount) | undefined;
}

export interface Limiter {
  readonly vendor: string;
  /** How many calls of this process may be in flight now. */
  readonly limit: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** Whether the vendor asks everybody to wait. */
  readonly isPaused: boolean;
  /** For how long it still does; 0 where it does not. */
  readonly pausedForMs: number;
  /** Whether the vendor has taken a call lately. */
  readonly isAnswering: boolean;
  /**
   * Waits for a turn. Rejects when the signal aborts, and with `provider_overloaded` when the vendor
   * asks for a wait that is too long, or for any where another deployment can be asked (`hasOthers`).
   * The caller owns the slot and must release it.
   */
  acquire(call: ModelCall): Promise<Slot>;
  /** A slot that is free now; undefined where one would have to be waited for. */
  tryAcquire(call: ModelCall): Slot | undefined;
  /** Nobody is let through before `waitMs` have passed. A shorter wait than the one running is nothing. */
  pause(waitMs: number): void;
}

export interface Slot {
  /** The vendor has taken the call: its answer has begun. */
  accept(): void;
  /** Gives the slot back, with what went wrong if anything did. Only the first time counts. */
  release(failure?: Failure): void;
}

export function createLimiter(options: LimiterOptions): Limiter {
  return new AdaptiveLimiter(options);
}

interface Waiter {
  readonly place: Place;
  readonly sinceMs: number;
  readonly grant: (slot: Slot) => void;
  readonly refuse: (failure: Failure) => void;
}

class AdaptiveLimiter implements Limiter, SharedLimiter {
  readonly vendor: string;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #maxPauseMs: number;
  readonly #queue = createFairQueue<Waiter>();
  readonly #limit: AdaptiveLimit;
  readonly #account: SharedAccount | undefined;
  #inFlight = 0;
  /** Calls that were refused since the vendor took one. */
  #refused = 0;
  #acceptedAtMs = Number.NEGATIVE_INFINITY;
  #askedUntilMs = Number.NEGATIVE_INFINITY;
  /** `askedUntilMs` and its jitter. */
  #opensAtMs = Number.NEGATIVE_INFINITY;
  /** A wait that the vendor asked this process for and the others do not know of. */
  #untoldUntilMs = Number.NEGATIVE_INFINITY;
  /** The same as it was in the last report. */
  #tellingUntilMs = Number.NEGATIVE_INFINITY;
  /** The last wait of all that was taken over. */
  #sharedPause = 0;
  /** Ends the one sleep until the pause is over; there is one only while somebody waits for it. */
  #alarm: AbortController | undefined;

  constructor({ vendor, clock, random, maxPauseMs, join, ...sizes }: LimiterOptions) {
    this.vendor = vendor;
    this.#limit = new AdaptiveLimit(sizes.startLimit ?? START_LIMIT, sizes.maxLimit ?? MAX_LIMIT);
    this.#account = join?.(this);
    this.#clock = clock ?? systemClock;
    this.#random = random ?? Math.random;
    this.#maxPauseMs = maxPauseMs ?? MODEL_RETRY.maxRetryAfterMs;
  }

  get limit(): number {
    return this.#limit.share;
  }

  get demand(): number {
    return this.#inFlight + this.#queue.size;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  get isPaused(): boolean {
    return this.#clock.now() < this.#opensAtMs;
  }

  get pausedForMs(): number {
    return Math.max(0, this.#opensAtMs - this.#clock.now());
  }

  get isAnswering(): boolean {
    return this.#clock.now() - this.#acceptedAtMs <= RECENT_MS;
  }

  tryAcquire({ signal }: ModelCall): Slot | undefined {
    if (signal.aborted || this.#queue.size > 0 || !this.#hasRoom()) return undefined;
    return this.#openSlot();
  }

  async acquire(call: ModelCall): Promise<Slot> {
    throwIfAborted(call.signal);
    if (this.#isPauseTooLong()) throw this.#toPauseFailure();
    const slot = this.tryAcquire(call);
    if (slot) return slot;
    if (call.hasOthers) throw this.#toBusyFailure();
    return await this.#wait(call);
  }

  pause(waitMs: number): void {
    if (!this.#pause(waitMs)) return;
    this.#untoldUntilMs = this.#askedUntilMs;
    this.#account?.tell();
  }

  report(): LimitNews & { readonly pauseMs: number } {
    this.#tellingUntilMs = this.#untoldUntilMs;
    const pauseMs = Math.max(0, this.#untoldUntilMs - this.#clock.now());
    return { ...this.#limit.report(), pauseMs };
  }

  adopt(all: LimitStanding, told: LimitNews, self: string): void {
    this.#limit.adopt(all, told, self);
    // Once: what is left of the same wait is never exactly the same, and each time would add some jitter.
    if (all.pause !== this.#sharedPause) this.#pause(all.pauseMs);
    this.#sharedPause = all.pause;
    if (this.#untoldUntilMs === this.#tellingUntilMs) {
      this.#untoldUntilMs = Number.NEGATIVE_INFINITY;
    }
    this.#letThrough();
  }

  standAlone(): void {
    this.#limit.standAlone();
    this.#letThrough();
  }

  /** Whether that is longer than what is known. */
  #pause(waitMs: number): boolean {
    if (!(waitMs > 0)) return false;
    const untilMs = this.#clock.now() + waitMs;
    if (untilMs <= this.#askedUntilMs) return false;
    this.#askedUntilMs = untilMs;
    this.#opensAtMs = Math.max(this.#opensAtMs, untilMs + this.#random() * JITTER * waitMs);
    if (this.#isPauseTooLong()) {
      for (const waiter of this.#queue.takeAll()) waiter.refuse(this.#toPauseFailure());
    }
    this.#letThrough();
    return true;
  }

  #isPauseTooLong(): boolean {
    return this.#askedUntilMs - this.#clock.now() > this.#maxPauseMs;
  }

  #toPauseFailure(): Failure {
    const retryAfterMs = this.#askedUntilMs - this.#clock.now();
    const message = `${this.vendor} asks to wait ${toSeconds(retryAfterMs)} s before the next call. Try again then, or use another model.`;
    return new Failure("provider_overloaded", message, { retryAfterMs });
  }

  #toBusyFailure(): Failure {
    const pauseMs = this.#opensAtMs - this.#clock.now();
    const line = `${this.#inFlight} calls at work, ${this.#queue.size} waiting`;
    return new Failure("provider_overloaded", `${this.vendor} is busy: ${line}.`, {
      retryAfterMs: pauseMs > 0 ? pauseMs : undefined,
    });
  }

  #hasRoom(): boolean {
    return this.#inFlight < this.limit && !this.isPaused;
  }

  #openSlot(): Slot {
    const { round } = this.#limit;
    let state: "sent" | "accepted" | "released" = "sent";
    this.#inFlight++;
    this.#account?.use();
    return {
      accept: () => {
        if (state !== "sent") return;
        state = "accepted";
        this.#grow();
      },
      release: (failure) => {
        if (state === "released") return;
        state = "released";
        this.#inFlight--;
        // Before the others are let through: they go by what this call has learned.
        if (failure?.code === "provider_overloaded") this.#shrink(round, failure.retryAfterMs);
        this.#letThrough();
      },
    };
  }

  #grow(): void {
    this.#acceptedAtMs = this.#clock.now();
    this.#refused = 0;
    // A limit that nobody reaches proves nothing.
    if (this.#queue.size === 0 && this.#inFlight < this.limit) return;
    if (!this.#limit.isReached(this.demand)) return;
    this.#limit.grow();
    this.#letThrough();
  }

  #shrink(round: number, retryAfterMs: number | undefined): void {
    this.#limit.shrink(round);
    this.#account?.tell();
    this.#refused++;
    const waitMs = retryAfterMs ?? 0;
    // One alone may be too large for the account, or ask a model that is full: others go on. Nobody
    // asks a single call to wait for an hour: that is a quota.
    if (this.#refused > 1 || waitMs > this.#maxPauseMs) this.pause(waitMs);
  }

  /**
   * Called after everything that may change who goes next. Each round reads the time once: asked
   * twice, it could be too early for a turn and too late for an alarm, and nobody would come back.
   */
  #letThrough(): void {
    while (this.#queue.size > 0 && this.#inFlight < this.limit) {
      const leftMs = this.#opensAtMs - this.#clock.now();
      if (leftMs > 0) return this.#setAlarm(leftMs);
      this.#queue.take()?.grant(this.#openSlot());
    }
    if (this.#queue.size > 0) return;
    this.#alarm?.abort();
    this.#alarm = undefined;
  }

  #setAlarm(leftMs: number): void {
    if (this.#alarm) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#clock.sleep(leftMs, alarm.signal).then(
      () => {
        if (this.#alarm === alarm) this.#alarm = undefined;
        // Sets the next one when the pause has become longer in the meantime.
        this.#letThrough();
      },
      () => {}, // Aborted: nobody waits any more.
    );
  }

  /** Whoever ends the wait first (a turn, a refusal, an abort) takes away everything it has set up. */
  #wait(call: ModelCall): Promise<Slot> {
    return new Promise((resolve, reject) => {
      const over = new AbortController();
      const settle = (): void => {
        call.signal.removeEventListener("abort", onAbort);
        over.abort();
      };
      const waiter: Waiter = {
        place: placeOf(call),
        sinceMs: this.#clock.now(),
        grant(slot) {
          settle();
          resolve(slot);
        },
        refuse(failure) {
          settle();
          reject(failure);
        },
      };
      const leave = (failure: Failure): void => {
        this.#queue.remove(waiter.place, waiter);
        waiter.refuse(failure);
        this.#letThrough();
      };
      const onAbort = (): void => leave(toAbortFailure(call.signal));
      call.signal.addEventListener("abort", onAbort, { once: true });
      this.#queue.add(waiter.place, waiter);
      this.#askForMore();
      this.#letThrough();
      this.#tell(waiter, call.notice, over.signal).catch((thrown) => leave(toFailure(thrown)));
    });
  }

  /** Its part is by what it needed at the last exchange; one that needs twice as much does not wait for the next. */
  #askForMore(): void {
    this.#account?.use();
    if (this.#limit.isOutgrown(this.demand)) this.#account?.tell();
  }

  async #tell(waiter: Waiter, notice: ModelCall["notice"], over: AbortSignal): Promise<void> {
    if (!notice) return;
    for (let waitMs = NOTICE_AFTER_MS; ; waitMs = NOTICE_EVERY_MS) {
      // Rejects when the wait is over, which is what ends this loop.
      await this.#clock.sleep(waitMs, over).catch(() => {});
      if (over.aborted) return;
      notice({ code: "wait", message: this.#describe(waiter) });
    }
  }

  #describe(waiter: Waiter): string {
    const now = this.#clock.now();
    const ahead = this.#queue.ahead(waiter.place, waiter);
    const line = `${ahead} ${ahead === 1 ? "call" : "calls"} ahead, ${this.#inFlight} at work`;
    const pauseMs = this.#opensAtMs - now;
    const pause = this.isPaused ? ` It asks to wait ${toSeconds(pauseMs)} s more.` : "";
    const waited = Math.round((now - waiter.sinceMs) / 1000);
    return `Waiting for ${this.vendor} for ${waited} s: ${line}.${pause}`;
  }
}

function placeOf(call: ModelCall): Place {
  const run = call.run ?? Symbol("call");
  return { owner: call.owner ?? run, run };
}

function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}
