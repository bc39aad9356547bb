/**
 * Limits how many calls one account has in flight at a vendor, and chooses which call is next.
 *
 * The limit grows while the vendor accepts calls and is halved when it says that it is overloaded. If the
 * vendor asks one call to wait, only that call waits. If it refuses the next one too, or says that the
 * account's quota is used up, all calls wait. Calls are limited, not runs: a call holds its slot until its
 * answer has ended, and a run that waits for its children holds none.
 *
 * Processes that use the same account may share its limit (`limit-sync.ts`). Each then has a share of it.
 */

import { throwIfAborted, toAbortFailure, WAIT_OVER } from "../../base/async.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { MODEL_RETRY } from "../../base/retry.ts";
import type { LimitStanding } from "../../store/vendor-limits.ts";
import type { ModelCall } from "../provider.ts";
import { AdaptiveLimit, type LimitNews } from "./adaptive-limit.ts";
import { createFairQueue, type LimiterPlace } from "./fair-queue.ts";
import type { SharedAccount, SharedLimiter } from "./limit-sync.ts";

/**
 * Most accounts accept this many calls at once. An account that accepts fewer refuses some, and the limit
 * is halved: a small server gets what it can handle after two or three refusals, which are retried. 100
 * subagents then ask in one round and not in two, which saves 0.2 s with a model that needs that long
 * (bench/delegation.ts). More would exceed the usual backlog of servers for new connections, which is 128.
 */
export const START_LIMIT = 128;
/** Above this the process is busy reading streams, so the vendor is not the limit. */
export const MAX_LIMIT = 256;

/** A wait grows by up to this share, so that processes with the same wait do not call at the same moment. */
const JITTER = 0.1;
/** A shorter wait is not reported to people; a longer one is reported again. */
const NOTICE_AFTER_MS = 1000;
const NOTICE_EVERY_MS = 15_000;
/** Vendors count by the minute: one that accepted a call within the last one is busy, not down. */
const RECENT_MS = 60_000;

export interface LimiterOptions {
  /** The vendor's name, for messages. */
  readonly vendor: string;
  readonly clock?: Clock | undefined;
  /** Between 0 and 1. */
  readonly random?: (() => number) | undefined;
  /** While the vendor asks for a longer wait than this, calls fail at once instead of waiting. */
  readonly maxPauseMs?: number | undefined;
  /** How many calls may be in flight before anything is known about the vendor. */
  readonly startLimit?: number | undefined;
  /** The most calls in flight. */
  readonly maxLimit?: number | undefined;
  /** Joins the exchange with other processes. If missing, the limiter is alone. */
  readonly join?: ((limiter: SharedLimiter) => SharedAccount) | undefined;
}

export interface Limiter {
  readonly vendor: string;
  /** How many calls of this process may be in flight now. */
  readonly limit: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** True if the vendor asks all calls to wait. */
  readonly isPaused: boolean;
  /** How much longer all calls must wait; 0 if they need not. */
  readonly pausedForMs: number;
  /** True if the vendor has accepted a call recently. */
  readonly isAnswering: boolean;
  /**
   * Waits for a turn. Rejects when the signal aborts. Rejects with `provider_overloaded` if the vendor asks
   * for a wait that is too long, or for any wait while another deployment can be asked (`hasOthers`). The
   * caller owns the slot and must release it.
   */
  acquire(call: ModelCall): Promise<Slot>;
  /** A slot that is free now; undefined if the call would have to wait. */
  tryAcquire(call: ModelCall): Slot | undefined;
  /** Lets no call through before `waitMs` have passed. A shorter wait than the current one has no effect. */
  pause(waitMs: number): void;
}

export interface Slot {
  /** The vendor has accepted the call: its answer has begun. */
  accept(): void;
  /** Returns the slot, with the failure if there was one. Only the first call counts. */
  release(failure?: Failure): void;
}

export function createLimiter(options: LimiterOptions): Limiter {
  return new AdaptiveLimiter(options);
}

interface Waiter {
  readonly place: LimiterPlace;
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
  /** Calls that were refused since the vendor accepted one. */
  #refused = 0;
  #acceptedAtMs = Number.NEGATIVE_INFINITY;
  #askedUntilMs = Number.NEGATIVE_INFINITY;
  /** `askedUntilMs` and its jitter. */
  #opensAtMs = Number.NEGATIVE_INFINITY;
  /** The end of a wait that the vendor asked this process for and that the others do not know yet. */
  #untoldUntilMs = Number.NEGATIVE_INFINITY;
  /** The value of `#untoldUntilMs` in the last report. */
  #tellingUntilMs = Number.NEGATIVE_INFINITY;
  /** The last common wait that was taken over. */
  #sharedPause = 0;
  /** Ends the one sleep until the pause is over. It exists only while a call waits for it. */
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
    // Once: the remaining time of the same wait always differs a little, and each time would add jitter.
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

  /** Sets a wait. Returns true if it is longer than the known one. */
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
        // Before other calls are let through, because they use what this call has learned.
        if (failure?.code === "provider_overloaded") this.#shrink(round, failure.retryAfterMs);
        this.#letThrough();
      },
    };
  }

  #grow(): void {
    this.#acceptedAtMs = this.#clock.now();
    this.#refused = 0;
    // The limit grows only when it is reached.
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
    // A single refused call may be too large for the account, or its model may be full, so other calls
    // continue. A wait of an hour is never for a single call: it is a quota.
    if (this.#refused > 1 || waitMs > this.#maxPauseMs) this.pause(waitMs);
  }

  /**
   * Called after every change of which call is next. Each round reads the time once: with two readings it
   * could be too early for a turn and too late for an alarm, and no later round would follow.
   */
  #letThrough(): void {
    while (this.#queue.size > 0 && this.#inFlight < this.limit) {
      const leftMs = this.#opensAtMs - this.#clock.now();
      if (leftMs > 0) return this.#setAlarm(leftMs);
      this.#queue.take()?.grant(this.#openSlot());
    }
    if (this.#queue.size > 0) return;
    this.#alarm?.abort(WAIT_OVER);
    this.#alarm = undefined;
  }

  #setAlarm(leftMs: number): void {
    if (this.#alarm) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#clock.sleep(leftMs, alarm.signal).then(
      () => {
        if (this.#alarm === alarm) this.#alarm = undefined;
        // Sets the next alarm if the pause has become longer.
        this.#letThrough();
      },
      () => {}, // Aborted: no call waits any more.
    );
  }

  /**
   * Waits for a turn. The first of a turn, a refusal and an abort removes everything that the wait has set
   * up.
   */
  #wait(call: ModelCall): Promise<Slot> {
    return new Promise((resolve, reject) => {
      const over = new AbortController();
      const settle = (): void => {
        call.signal.removeEventListener("abort", onAbort);
        over.abort(WAIT_OVER);
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

  /** Asks at once for a larger share if the demand has doubled since the last exchange. */
  #askForMore(): void {
    this.#account?.use();
    if (this.#limit.isOutgrown(this.demand)) this.#account?.tell();
  }

  async #tell(waiter: Waiter, notice: ModelCall["notice"], over: AbortSignal): Promise<void> {
    if (!notice) return;
    for (let waitMs = NOTICE_AFTER_MS; ; waitMs = NOTICE_EVERY_MS) {
      // Rejects when the wait is over, which ends this loop.
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

function placeOf(call: ModelCall): LimiterPlace {
  const run = call.run ?? Symbol("call");
  return { owner: call.owner ?? run, run };
}

function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}
