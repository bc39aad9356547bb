/**
 * A provider whose calls go through a limiter, and are retried if they fail before any output.
 *
 * The retries are here and not in the inner provider: between two attempts a call holds no slot, and it
 * goes to the end of the queue. The inner provider must not retry by itself.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { type Failure, toFailure } from "../../base/failure.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { MODEL_RETRY, type Retrying, type RetryPolicy, retry } from "../../base/retry.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { Transport } from "../http/transport.ts";
import type { ModelCall, ModelRequest, Provider, WholeAnswer } from "../provider.ts";
import type { Limiter, Slot } from "./limiter.ts";
import { readRetryAfter, readSpentWait } from "./rate-limit-headers.ts";

/** The retry policy of the inner provider: no retries. */
export const ONE_TRY: RetryPolicy = { ...MODEL_RETRY, attempts: 1 };

/**
 * The most attempts of a call while others succeed. If half of the calls are refused, one in a million is
 * refused so often; a call that is too large for its account always is.
 */
const MAX_TRIES = 20;

/** A counter's reset says when it is full, which is later than when there is room again: try before. */
const MAX_SPENT_WAIT_MS = 60_000;

const TOO_MANY = 429;
const BUSY: ReadonlySet<number> = new Set([TOO_MANY, 503, 529]);

export interface LimitOptions {
  /** `attempts` counts attempts during which the vendor accepts no call at all. */
  readonly retry?: RetryPolicy | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  readonly log?: Log | undefined;
}

/** The first batch of `provider` must be output: after that the call is not sent again. */
export function limitProvider(
  provider: Provider,
  limiter: Limiter,
  options: LimitOptions = {},
): Provider {
  async function* stream(
    request: ModelRequest,
    call: ModelCall,
  ): AsyncGenerator<readonly ModelEvent[], void> {
    const inner = toInner(call);
    const { slot, first, rest } = await retry(
      async () => {
        const slot = limiter.tryAcquire(call) ?? (await limiter.acquire(call));
        return begin(provider.stream(request, inner), slot);
      },
      () => toRetrying(limiter, call, options),
    );
    let failure: Failure | undefined;
    try {
      if (!first.done) yield first.value;
      yield* rest;
    } catch (thrown) {
      failure = toFailure(thrown);
      throw failure;
    } finally {
      // The connection first: a free slot must be free at the vendor, too.
      await rest.return().finally(() => slot.release(failure));
    }
  }

  const { name, omits } = provider;
  if (!provider.answer) return { name, stream, omits };
  const ask = provider.answer;
  const answer: typeof ask = (request, call) => {
    const inner = toInner(call);
    const askOnce = (): Promise<WholeAnswer> => ask(request, inner);
    return retry(
      () => {
        const slot = limiter.tryAcquire(call);
        return slot
          ? settle(askOnce, slot)
          : limiter.acquire(call).then((late) => settle(askOnce, late));
      },
      () => toRetrying(limiter, call, options),
    );
  };
  return { name, stream, answer, omits };
}

/** Owns the slot. */
async function settle(ask: () => Promise<WholeAnswer>, slot: Slot): Promise<WholeAnswer> {
  try {
    const answer = await ask();
    slot.accept();
    slot.release(answer.failure);
    return answer;
  } catch (thrown) {
    const failure = toFailure(thrown);
    slot.release(failure);
    throw failure;
  }
}

/** Passes the headers of every answer to the limiter. */
export function watchTransport(
  transport: Transport,
  limiter: Limiter,
  clock: Clock = systemClock,
): Transport {
  return {
    send: (request) =>
      transport.send(request).then((answer) => {
        const { status, headers } = answer;
        const now = clock.now();
        const askedMs = BUSY.has(status) ? readRetryAfter(headers, now) : undefined;
        const spentMs = readSpentWait(headers, now);
        // The server's `retry-after` is exact where the counters are not. A 429 without counters may be
        // about this call alone: the limiter learns of it when the call ends, and sees whether the next one is
        // refused too.
        const isForAll = status !== TOO_MANY || spentMs !== undefined;
        if (isForAll) limiter.pause(askedMs ?? Math.min(spentMs ?? 0, MAX_SPENT_WAIT_MS));
        return answer;
      }),
    close: () => transport.close(),
  };
}

interface Begun {
  readonly slot: Slot;
  readonly first: IteratorResult<readonly ModelEvent[], void>;
  readonly rest: AsyncGenerator<readonly ModelEvent[], void>;
}

/** Owns the slot until the answer has begun. */
async function begin(rest: Begun["rest"], slot: Slot): Promise<Begun> {
  try {
    const first = await rest.next();
    slot.accept();
    return { slot, first, rest };
  } catch (thrown) {
    const failure = toFailure(thrown);
    slot.release(failure);
    throw failure;
  }
}

/** A vendor that accepts other calls is retried longer than one that accepts none. */
function toRetrying(limiter: Limiter, call: ModelCall, options: LimitOptions): Retrying {
  const { retry: policy = MODEL_RETRY, clock = systemClock, log = silentLog } = options;
  const { vendor } = limiter;
  let counted = 0;
  let silent = 0;
  return {
    policy: { ...policy, attempts: policy.attempts > 1 ? Math.max(policy.attempts, MAX_TRIES) : 1 },
    clock,
    random: options.random ?? Math.random,
    signal: call.signal,
    onRetry(failure, waitMs) {
      const isBusy = failure.code === "provider_overloaded" && limiter.isAnswering;
      if (!isBusy) counted++;
      // The limit for the first byte is minutes: a server that was silent twice for so long is hanging.
      if (isSilence(failure)) silent++;
      if (counted >= policy.attempts || silent > 1) throw failure;
      const wait = `Trying ${vendor} again in ${(waitMs / 1000).toFixed(1)} s.`;
      log.info(failure.message, { vendor, wait_ms: Math.round(waitMs) });
      call.notice?.({ code: "retry", message: `${failure.message} ${wait}` });
    },
  };
}

function isSilence({ code, cause }: Failure): boolean {
  const why = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return code === "provider_timeout" && why !== "UND_ERR_CONNECT_TIMEOUT";
}

/** The call for a retry, whose notices about left-out parameters would repeat those of the first attempt. */
function toInner(call: ModelCall): ModelCall {
  const { notice } = call;
  if (!notice) return call;
  let told: Set<string> | undefined;
  const once: typeof notice = (said) => {
    if (told?.has(said.message)) return;
    told ??= new Set();
    told.add(said.message);
    notice(said);
  };
  return { ...call, notice: once };
}
