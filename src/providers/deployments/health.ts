/**
 * Which deployments of a model's name are worth asking now. One that failed several times in a row, or
 * that asked for a wait, cools down; then one call tries it (half-open), and its answer decides.
 *
 * The state is this process's own: each worker learns by itself, which costs it a few tries that another
 * deployment then answers.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import type { Failure } from "../../base/failure.ts";
import { isLasting } from "./failure-rules.ts";

export interface CooldownSettings {
  /** How many failures in a row it takes. */
  readonly failures: number;
  /** How long the first cooldown is; each one that a failed trial follows is twice as long as the last. */
  readonly cooldownMs: number;
}

/** As other gateways have it: long enough for a restart, short enough not to be noticed after one. */
export const COOLDOWN: CooldownSettings = { failures: 3, cooldownMs: 30_000 };

/** Times the first cooldown. A server that was down for an hour is back within minutes of its return. */
const MAX_GROWTH = 8;

/** A quota may come back next month; the key may be another one sooner. */
const MAX_ASKED_MS = 3_600_000;

export interface DeploymentHealth {
  /** May be asked like any other: well, or cooled down with nobody trying it. */
  readonly isReady: boolean;
  /** How long it asks not to be asked; 0 where it did not ask for a wait. */
  readonly askedWaitMs: number;
  /** Begins a call. The caller must end it. */
  begin(): HealthCall;
}

export interface HealthCall {
  /** Its answer has begun: a trial is passed, and others may ask too. */
  answered(): void;
  /** Only the first time counts. */
  end(verdict: Verdict): void;
}

/** `unknown`: the call ended for a reason of its own, such as a client that left. */
export type Verdict = "well" | "unknown" | Failure;

export interface HealthReport {
  readonly label: string;
  readonly isReady: boolean;
  /** Since this process started. */
  readonly failures: number;
  /** For how long it is not asked first; 0 where it is. */
  readonly waitMs: number;
  /** What the last failure said; undefined where there was none since it was last well. */
  readonly reason: string | undefined;
}

/** A deployment is not asked first for a while. */
export interface Cooldown {
  readonly label: string;
  readonly waitMs: number;
  /** The last of its failures. */
  readonly failure: Failure;
}

export interface DeploymentHealths {
  /** The health of a deployment, the same one each time. `label` names it in reports. */
  of(key: string, label: string): DeploymentHealth;
  /** One for each label. */
  report(): readonly HealthReport[];
  /** New settings hold from the next failure on. */
  set(settings: CooldownSettings): void;
  /** Tells of each cooldown that begins, until what it returns is called. Waits that were asked for are none. */
  watch(told: (cooldown: Cooldown) => void): () => void;
}

/** Deployments are rows of the settings: more than that are those of files that were changed often. */
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

/** Deployments of different names may differ in nothing that their label tells. */
function join(a: HealthReport | undefined, b: HealthReport): HealthReport {
  if (!a) return b;
  return {
    ...b,
    ...{ isReady: a.isReady && b.isReady, failures: a.failures + b.failures },
    ...{ waitMs: Math.max(a.waitMs, b.waitMs), reason: b.reason ?? a.reason },
  };
}

/** What every runtime of this process uses unless it is given others. */
export const processHealths: DeploymentHealths = createHealths();

interface Rules {
  readonly clock: Clock;
  settings: CooldownSettings;
  readonly tell: (cooldown: Cooldown) => void;
}

class Health implements DeploymentHealth {
  readonly #label: string;
  readonly #rules: Rules;
  /** In a row. */
  #failures = 0;
  #allFailures = 0;
  /** How often it cooled down since it was last well. */
  #cooldowns = 0;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** Whether it asked for that wait itself. */
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

  /** Others may ask; an answer that breaks off is still a failure too many. */
  #pass(): void {
    this.#cooldowns = 0;
    this.#failures = Math.max(0, this.#rules.settings.failures - 1);
  }

  get #leftMs(): number {
    return this.#untilMs - this.#rules.clock.now();
  }

  #judge(verdict: Verdict): void {
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
    // Calls that were on their way when it began to cool down say nothing new.
    if (this.#untilMs > nowMs) return;
    // After a cooldown one failure is enough for the next one.
    if (this.#failures < failures && this.#cooldowns === 0 && !isLasting(failure)) return;
    this.#isAsked = false;
    const waitMs = cooldownMs * Math.min(2 ** this.#cooldowns, MAX_GROWTH);
    this.#untilMs = nowMs + waitMs;
    this.#cooldowns++;
    this.#rules.tell({ label: this.#label, waitMs, failure });
  }
}
