/** Promises and signals: concurrency with a limit, and what an aborted signal is thrown as. */

import { setMaxListeners } from "node:events";
import { Failure } from "./failure.ts";

/** For whoever waits with others, or has nobody who could give up. */
export const NEVER: AbortSignal = new AbortController().signal;
// All of those listen to it at once, and stop when they have what they wait for.
setMaxListeners(0, NEVER);

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
 * The same for work that is of use as a whole alone: when one fails, the signal of the others aborts and no
 * more are begun. All have ended when it rejects, with the first failure.
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
 * Has `stop` called when the signal aborts, until it is taken back. A signal has one listener for all of
 * them: one for each call costs as much as writing a request (bench/gateway.ts).
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

/** Waits until the signal aborts at most. Others may wait for the same thing, so it goes on. */
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

/** `Promise.withResolvers` is not in every Node that we run on. Nobody need listen to the promise. */
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
