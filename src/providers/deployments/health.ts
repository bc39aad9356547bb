/**
 * Which deployments of a model's name are worth asking now. One that failed several times in a row, or that
 * asked for a wait, cools down. Then one call tries it (half-open), and its answer decides.
 *
 * The state belongs to this process: each worker learns by itself, which costs it a few failed attempts
 * that another deployment then answers.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import type { Failure } from "../../base/failure.ts";
import { type DeploymentVerdict, isLasting } from "./failure-rules.ts";

export interface CooldownSettings {
  /** The number of failures in a row that starts a cooldown. */
  readonly failures: number;
  /** The length of the first cooldown. Each cooldown after a failed trial is twice as long as the last. */
  readonly cooldownMs: number;
}

/** The defaults of other gateways: long enough for a restart, short enough that its end is noticed soon. */
export const COOLDOWN: CooldownSettings = { failures: 3, cooldownMs: 30_000 };

/**
 * The longest cooldown, as a multiple of the first one. A server that was down for an hour is asked again
 * within minutes of its return.
 */
const MAX_GROWTH = 8;

/** The longest wait. A server may ask to wait for next month's quota, but its key may be replaced sooner. */
const MAX_ASKED_MS = 3_600_000;

export interface DeploymentHealth {
  /**
   * True if it may be asked like any other: it is healthy, or its cooldown is over and no call is trying
   * it.
   */
  readonly isReady: boolean;
  /** How much longer it asks not to be called; 0 if it did not ask for a wait. */
  readonly askedWaitMs: number;
  /** Begins a call. The caller must end it. */
  begin(): HealthCall;
}

export interface HealthCall {
  /** Call it when the answer has begun: a trial is then passed, and other calls may ask too. */
  answered(): void;
  /** Ends the call. Only the first call of it counts. */
  end(verdict: DeploymentVerdict): void;
}

export interface HealthReport {
  readonly label: string;
  readonly isReady: boolean;
  /** Failures since this process started. */
  readonly failures: number;
  /** How much longer others are asked before it; 0 if it is not cooling down. */
  readonly waitMs: number;
  /** The message of the last failure; undefined if it has answered since. */
  readonly reason: string | undefined;
}

/** The start of a cooldown. Until its end, other deployments are asked first. */
export interface Cooldown {
  readonly label: string;
  readonly waitMs: number;
  /** The failure that started it. */
  readonly failure: Failure;
}

export interface DeploymentHealths {
  /** The health of a deployment, the same object each time. `label` names it in reports. */
  of(key: string, label: string): DeploymentHealth;
  /** One report for each label. */
  report(): readonly HealthReport[];
  /** Sets new settings, which apply from the next failure on. */
  set(settings: CooldownSettings): void;
  /**
   * Calls `told` for each cooldown that begins, until the returned function is called. Waits that a server
   * asked for do not count.
   */
  watch(told: (cooldown: Cooldown) => void): () => void;
}

/**
 * Bounds the memory. Deployments are rows of the settings, so a larger number comes from a file that was
 * changed often.
 */
const MAX_KNOWN = 1000;

export function createHealths(clock: Clock = systemClock): DeploymentHealths {
  const known = new Map<string, Health>();
  const listeners = new Set<(cooldown: Cooldown) => void>();
  const tell = (cooldown: Cooldown): void => {
    for (const listener of listeners) listener(cooldown);
  };
  const rules: Rules = { clock, settings: COOLDOWN, tell };
  return {
    of(key, label) {
      const found = known.get(key);
      if (found) return found;
      if (known.size >= MAX_KNOWN) known.clear();
      const health = new Health(label, rules);
      known.set(key, health);
      return health;
    },
    report() {
      const byLabel = new Map<string, HealthReport>();
      for (const { report } of known.values()) {
        byLabel.set(report.label, join(byLabel.get(report.label), report));
      }
      return [...byLabel.values()];
    },
    set(settings) {
      rules.settings = settings;
    },
    watch(told) {
      listeners.add(told);
      return () => void listeners.delete(told);
    },
  };
}

/** Joins two reports. Deployments of different names may have the same label. */
function join(a: HealthReport | undefined, b: HealthReport): HealthReport {
  if (!a) return b;
  return {
    ...b,
    isReady: a.isReady && b.isReady,
    failures: a.failures + b.failures,
    waitMs: Math.max(a.waitMs, b.waitMs),
    reason: b.reason ?? a.reason,
  };
}

/** The health of deployments that all runtimes of this process share, unless they get their own. */
export const processHealths: DeploymentHealths = createHealths();

interface Rules {
  readonly clock: Clock;
  settings: CooldownSettings;
  readonly tell: (cooldown: Cooldown) => void;
}

class Health implements DeploymentHealth {
  readonly #label: string;
  readonly #rules: Rules;
  /** Failures in a row. */
  #failures = 0;
  #allFailures = 0;
  /** How many cooldowns there were since it last answered. */
  #cooldowns = 0;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** True if the server itself asked for that wait. */
  #isAsked = false;
  #isTried = false;
  #reason: string | undefined;

  constructor(label: string, rules: Rules) {
    this.#label = label;
    this.#rules = rules;
  }

  get isReady(): boolean {
    return !this.#isTried && this.#leftMs <= 0;
  }

  get askedWaitMs(): number {
    return this.#isAsked ? Math.max(0, this.#leftMs) : 0;
  }

  get report(): HealthReport {
    const waitMs = Math.max(0, this.#leftMs);
    const told = { failures: this.#allFailures, waitMs, reason: this.#reason };
    return { label: this.#label, isReady: this.isReady, ...told };
  }

  begin(): HealthCall {
    const isTrial = this.#cooldowns > 0 && this.isReady;
    if (isTrial) this.#isTried = true;
    let isOpen = true;
    const endTrial = (): void => {
      if (isTrial && isOpen) this.#isTried = false;
    };
    return {
      answered: () => {
        endTrial();
        if (isTrial && isOpen) this.#pass();
      },
      end: (verdict) => {
        endTrial();
        if (isOpen) this.#judge(verdict);
        isOpen = false;
      },
    };
  }

  /** Lets other calls ask. If the answer breaks off later, that still counts as a failure. */
  #pass(): void {
    this.#cooldowns = 0;
    this.#failures = Math.max(0, this.#rules.settings.failures - 1);
  }

  get #leftMs(): number {
    return this.#untilMs - this.#rules.clock.now();
  }

  #judge(verdict: DeploymentVerdict): void {
    if (verdict === "unknown") return;
    if (verdict === "well") {
      this.#failures = 0;
      this.#cooldowns = 0;
      this.#untilMs = Number.NEGATIVE_INFINITY;
      this.#isAsked = false;
      this.#reason = undefined;
      return;
    }
    this.#reason = verdict.message;
    this.#failures++;
    this.#allFailures++;
    this.#cool(verdict);
  }

  #cool(failure: Failure): void {
    const { failures, cooldownMs } = this.#rules.settings;
    const nowMs = this.#rules.clock.now();
    const { retryAfterMs: askedMs } = failure;
    if (askedMs !== undefined) {
      this.#isAsked = true;
      this.#untilMs = Math.max(this.#untilMs, nowMs + Math.min(askedMs, MAX_ASKED_MS));
      return;
    }
    // Calls that were in flight when the cooldown began say nothing new.
    if (this.#untilMs > nowMs) return;
    // After a cooldown one failure is enough to start the next one.
    if (this.#failures < failures && this.#cooldowns === 0 && !isLasting(failure)) return;
    this.#isAsked = false;
    const waitMs = cooldownMs * Math.min(2 ** this.#cooldowns, MAX_GROWTH);
    this.#untilMs = nowMs + waitMs;
    this.#cooldowns++;
    this.#rules.tell({ label: this.#label, waitMs, failure });
  }
}
