/** Promises and signals: concurrency with a limit, and which failure an aborted signal is thrown as. */

import { setMaxListeners } from "node:events";
import { Failure } from "./failure.ts";

/** A signal that never aborts, for a wait that is not meant to be interrupted. */
export const NEVER: AbortSignal = new AbortController().signal;
// Every such wait adds a listener, and removes it when the wait is over: there is no limit.
setMaxListeners(0, NEVER);

/**
 * The reason for ending a wait whose result nobody wants any more, which nobody is told. Without a reason, `abort` makes
 * an exception with its stack, which costs 30 µs; most waits of a request end so.
 */
export const WAIT_OVER = "the wait is over";

/** Runs `work` over `inputs`, at most `limit` at once, started in order; results in order. */
export async function mapConcurrent<In, Out>(
  inputs: readonly In[],
  limit: number,
  work: (input: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = new Array(inputs.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < inputs.length) {
      const index = next++;
      results[index] = await work(inputs[index] as In, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, inputs.length) }, worker));
  return results;
}

/**
 * Like `mapConcurrent`, for work that is useful only as a whole: when one fails, the signal of the others
 * aborts and none is begun after it. All have ended when it rejects, with the first failure.
 */
export async function mapTogether<In, Out>(
  inputs: readonly In[],
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
  work: (input: In, signal: AbortSignal, index: number) => Promise<Out>,
): Promise<Out[]> {
  const stop = new AbortController();
  const whole = AbortSignal.any([signal, stop.signal]);
  const failures: unknown[] = [];
  const results: Out[] = new Array(inputs.length);
  await mapConcurrent(inputs, limit, async (input, index) => {
    if (failures.length > 0) return;
    try {
      results[index] = await work(input, whole, index);
    } catch (thrown) {
      failures.push(thrown);
      stop.abort(thrown);
    }
  });
  if (failures.length > 0) throw failures[0];
  return results;
}

/** Rejects with the signal's own reason when it is a `Failure`, else as cancelled. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw toAbortFailure(signal);
}

export function toAbortFailure(signal: AbortSignal): Failure {
  if (signal.reason instanceof Failure) return signal.reason;
  return new Failure("cancelled", "The run was cancelled.", { cause: signal.reason });
}

/**
 * Calls `stop` when the signal aborts, until `removeStop`. The signal has one listener for all stops: one
 * listener for each call costs as much as writing a request (bench/gateway.ts).
 */
export function addStop(signal: AbortSignal, stop: () => void): void {
  const known = stops.get(signal);
  if (known) {
    known.add(stop);
    return;
  }
  const all = new Set([stop]);
  stops.set(signal, all);
  signal.addEventListener("abort", () => {
    for (const one of [...all]) one();
  });
}

export function removeStop(signal: AbortSignal, stop: () => void): void {
  stops.get(signal)?.delete(stop);
}

const stops = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Waits for a shared promise, at most until the signal aborts. The shared work continues: others may wait
 * for it.
 */
export async function untilAborted<Out>(shared: Promise<Out>, signal: AbortSignal): Promise<Out> {
  shared.catch(() => {});
  throwIfAborted(signal);
  let stop = (): void => {};
  const cut = new Promise<never>((_, reject) => {
    stop = () => reject(toAbortFailure(signal));
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([shared, cut]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

export interface Resolvers<Out> {
  readonly promise: Promise<Out>;
  resolve(value: Out): void;
  reject(reason: unknown): void;
}

/**
 * A promise with its `resolve` and `reject`; `Promise.withResolvers` is not in every Node that we run on. A
 * rejection that is not listened to is ignored.
 */
export function toResolvers<Out>(): Resolvers<Out> {
  let resolve: (value: Out) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<Out>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}
