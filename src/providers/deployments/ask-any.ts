/**
 * Asks the deployments of a name until one answers.
 *
 * This is the only place that bounds all attempts. Each deployment is asked once, without a wait while
 * another one is left. Then the retries of the settings (`max_retries`) go to the deployment that may be
 * asked soonest. So a call makes at most one attempt for each deployment, and `max_retries` more. The
 * providers inside must not retry by themselves.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { MODEL_RETRY, type Retrying, type RetryPolicy, retry } from "../../base/retry.ts";
import type { AnsweredBy } from "../../protocol/model-events.ts";
import type { ModelCall } from "../provider.ts";
import { type Choosable, chooseDeployments } from "./choose-deployments.ts";
import { mayBeLarger, nextAfter, toVerdict } from "./failure-rules.ts";
import type { HealthCall } from "./health.ts";

/** A deployment that can be asked for an answer or for vectors. */
export interface Askable extends Choosable {
  /** `vendor/model`. */
  readonly model: string;
  /** Undefined if it is not known. */
  readonly contextTokens: number | undefined;
}

export interface DeploymentsOptions {
  readonly retry?: RetryPolicy | undefined;
  readonly clock?: Clock | undefined;
  /** Between 0 and 1. */
  readonly random?: (() => number) | undefined;
}

export interface DeploymentCall<One extends Askable> {
  /** The deployments that accept the request. */
  readonly deployments: readonly One[];
  readonly options: DeploymentsOptions;
  /** The deployment to ask first, if it may be asked. */
  readonly stay: string | undefined;
  readonly call: ModelCall;
}

/** One attempt at one deployment. Calls `onSend` of the call if it sends anything. */
export type Try<One, Out> = (deployment: One, call: ModelCall) => Promise<Out>;

export interface DeploymentAnswer<One, Out> {
  readonly out: Out;
  readonly deployment: One;
  readonly by: AnsweredBy;
  /** Owned by the caller, who ends it with the answer. */
  readonly health: HealthCall;
}

/**
 * Asks until a deployment answers. Rejects with the failure that helps the client most: one that a retry
 * may fix, if there is one.
 */
export function askAny<One extends Askable, Out>(
  asking: DeploymentCall<One>,
  ask: Try<One, Out>,
): Promise<DeploymentAnswer<One, Out>> {
  const search = new Search(asking, ask);
  return retry(
    () => search.next(),
    () => toRetrying(asking),
  );
}

class Search<One extends Askable, Out> {
  readonly #asking: DeploymentCall<One>;
  readonly #ask: Try<One, Out>;
  /** The last failure of each failed deployment, oldest first, and when it may be asked again. */
  readonly #failures = new Map<One, Failed<One>>();
  #tries = 0;
  #hasBegun = false;

  constructor(asking: DeploymentCall<One>, ask: Try<One, Out>) {
    this.#asking = asking;
    this.#ask = ask;
  }

  /**
   * Asks on. The first attempt goes to each deployment in turn, later ones to the one that may be asked
   * soonest.
   */
  async next(): Promise<DeploymentAnswer<One, Out>> {
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    const answered = isFirst ? await this.#askEach() : await this.#askSoonest();
    if (answered) return answered;
    throw this.#toFailure();
  }

  async #askEach(): Promise<DeploymentAnswer<One, Out> | undefined> {
    const { deployments, options, stay, call } = this.#asking;
    const { random = Math.random } = options;
    let left = chooseDeployments(deployments, { stay, random });
    for (const one of deployments) {
      if (!left.includes(one)) this.#note(one, toWaitFailure(one));
    }
    for (let one = left[0]; one; one = left[0]) {
      const others = left.slice(1);
      const answered = await this.#try(one, { hasOthers: others.length > 0 });
      if (answered) return answered;
      const failure = this.#failures.get(one)?.failure;
      const needsLarger = failure !== undefined && nextAfter(failure) === "larger";
      left = needsLarger ? findLarger(others, one) : others;
      const [next] = left;
      if (failure && next) call.notice?.(toNotice(failure, next));
    }
    return undefined;
  }

  async #askSoonest(): Promise<DeploymentAnswer<One, Out> | undefined> {
    const soonest = this.#findSoonest();
    return soonest && (await this.#try(soonest.deployment, { hasOthers: false }));
  }

  /** Makes one attempt; undefined if another deployment may be asked. */
  async #try(
    deployment: One,
    { hasOthers }: { readonly hasOthers: boolean },
  ): Promise<DeploymentAnswer<One, Out> | undefined> {
    const { call } = this.#asking;
    const { label, model } = deployment;
    const health = deployment.health.begin();
    const notices = holdDropped(call.notice);
    let isSent = false;
    const onSend = (): void => {
      isSent = true;
      call.onSend?.(label);
    };
    this.#tries++;
    try {
      const inner = { ...call, hasOthers, onSend, notice: notices.notice };
      const out = await this.#ask(deployment, inner);
      health.answered();
      notices.release();
      return { out, deployment, health, by: { deployment: label, model, tries: this.#tries } };
    } catch (thrown) {
      const failure = toFailure(thrown);
      // Nothing was sent: our own limiter would have made the call wait.
      const isBusy = !isSent && failure.code === "provider_overloaded";
      if (isBusy) this.#tries--;
      health.end(isBusy || call.signal.aborted ? "unknown" : toVerdict(failure));
      if (call.signal.aborted || nextAfter(failure) === "none") throw failure;
      this.#note(deployment, failure);
      return undefined;
    }
  }

  #note(deployment: One, failure: Failure): void {
    const againMs = this.#nowMs + (failure.retryAfterMs ?? 0);
    // A deployment that was asked again moves to the end of the line.
    this.#failures.delete(deployment);
    this.#failures.set(deployment, { deployment, failure, againMs });
  }

  get #nowMs(): number {
    return (this.#asking.options.clock ?? systemClock).now();
  }

  #findSoonest(): Failed<One> | undefined {
    const nowMs = this.#nowMs;
    const again = [...this.#failures.values()].filter(({ failure }) => failure.retryable);
    const waitMs = ({ againMs }: Failed<One>): number => Math.max(0, againMs - nowMs);
    return again.sort((a, b) => waitMs(a) - waitMs(b))[0];
  }

  #toFailure(): Failure {
    const soonest = this.#findSoonest();
    if (soonest) return withWait(soonest, this.#nowMs);
    const all = [...this.#failures.values()].map(({ failure }) => failure);
    const found = all.find(({ code }) => code === "context_exceeded") ?? all.at(-1);
    return found ?? new Failure("internal", "No deployment was asked.");
  }
}

interface Failed<One> {
  readonly deployment: One;
  readonly failure: Failure;
  readonly againMs: number;
}

/** The failure with what is left of the wait that it asked for. */
function withWait({ failure, againMs }: Failed<unknown>, nowMs: number): Failure {
  const { code, message, vendorCode, retryAfterMs: askedMs } = failure;
  const retryAfterMs = Math.max(0, againMs - nowMs);
  if (askedMs === undefined || askedMs === retryAfterMs) return failure;
  return new Failure(code, message, { vendorCode, retryAfterMs, cause: failure });
}

function findLarger<One extends Askable>(others: readonly One[], one: One): One[] {
  return others.filter((other) => mayBeLarger(other, one));
}

function toWaitFailure({ label, health }: Askable): Failure {
  const retryAfterMs = health.askedWaitMs;
  const message = `${label} asks to wait ${Math.ceil(retryAfterMs / 1000)} s before the next call.`;
  return new Failure("provider_overloaded", message, { retryAfterMs });
}

type Notify = NonNullable<ModelCall["notice"]>;

function toNotice({ message }: Failure, next: Askable): Parameters<Notify>[0] {
  return { code: "fallback", message: `${message} Asking ${next.label} instead.` };
}

interface HeldNotices {
  readonly notice: Notify | undefined;
  release(): void;
}

/** Holds notices about dropped parameters. Those of a deployment count only if it is the one that answers. */
function holdDropped(notice: Notify | undefined): HeldNotices {
  if (!notice) return { notice, release() {} };
  let held: Parameters<Notify>[0][] | undefined = [];
  return {
    notice: (said) => (said.code === "dropped" && held ? void held.push(said) : notice(said)),
    release() {
      for (const said of held ?? []) notice(said);
      held = undefined;
    },
  };
}

function toRetrying({
  options,
  call,
}: Pick<DeploymentCall<Askable>, "options" | "call">): Retrying {
  const { retry: policy = MODEL_RETRY, clock = systemClock, random = Math.random } = options;
  return {
    policy,
    clock,
    random,
    signal: call.signal,
    onRetry(failure, waitMs) {
      const wait = `Trying again in ${(waitMs / 1000).toFixed(1)} s.`;
      call.notice?.({ code: "retry", message: `${failure.message} ${wait}` });
    },
  };
}
