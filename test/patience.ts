/**
 * How long tests wait for what is real: processes, sockets, timers of the code under test. This is the one
 * place that says so. No test passes or fails because a machine is slow: what must happen has minutes to
 * happen, and what must not end is something that never ends by itself.
 */

import assert from "node:assert/strict";
import { setImmediate, setTimeout } from "node:timers/promises";
import { type Clock, systemClock } from "../src/base/clock.ts";

/** Shorter than the time after which a test process that stands still is ended, so that the wait is named first. */
export const PATIENCE_MS = 10 * 60_000;

/** The first looks of `until` come one turn of the event loop after the other, which is enough for this process. */
const QUICK_LOOKS = 100;
/** After those, it looks for what another process does, and each look may be a request. */
const LOOK_EVERY_MS = 20;

/** The signal of a call that ends by itself: it aborts what stands still, and no test means to wait for it. */
export function patience(): AbortSignal {
  return AbortSignal.timeout(PATIENCE_MS);
}

/** Looks again and again until there is something, because no event tells when another process is done. */
export async function until<Out>(
  look: () => Out | undefined | Promise<Out | undefined>,
  what: string,
): Promise<Out> {
  const endMs = performance.now() + PATIENCE_MS;
  for (let looks = 1; ; looks++) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > endMs) assert.fail(lateMessage(what));
    await (looks < QUICK_LOOKS ? setImmediate() : setTimeout(LOOK_EVERY_MS));
  }
}

/** Looks again and again until it is so. */
export async function untilTrue(
  isSo: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  await until(async () => ((await isSo()) ? true : undefined), what);
}

/** Gives what the promise gives, or fails with what was waited for. */
export async function inTime<Out>(promise: Promise<Out>, what: string): Promise<Out> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = globalThis.setTimeout(() => reject(new Error(lateMessage(what))), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * For a short limit that something good must fit into as well as something that never ends: tries it with a
 * longer one where it does not, up to minutes.
 */
export async function withGrowingLimit(
  firstMs: number,
  attempt: (limitMs: number) => Promise<void>,
): Promise<void> {
  for (let limitMs = firstMs; limitMs < PATIENCE_MS; limitMs *= 8) {
    const isDone = await attempt(limitMs).then(
      () => true,
      () => false,
    );
    if (isDone) return;
  }
  await attempt(PATIENCE_MS);
}

/**
 * Asks what may be asked again until it is answered: a process that dies at that moment breaks the connection. A
 * question that is neither answered nor broken off ends with the signal.
 */
export async function askAgain<Out>(
  ask: (limit: AbortSignal) => Promise<Out>,
  what: string,
): Promise<Out> {
  return await until(async () => await ask(patience()).catch(() => undefined), what);
}

/** For requests of model servers: everything comes at once on the loopback, on a machine that is fast enough. */
export const PATIENT_TIMEOUTS = {
  connectMs: PATIENCE_MS,
  firstByteMs: PATIENCE_MS,
  idleMs: PATIENCE_MS,
};

/** For code in which no wait is to run out: what is waited for comes, however long it takes. */
export const patientClock: Clock = {
  now: systemClock.now,
  sleep: (_, signal) => systemClock.sleep(PATIENCE_MS, signal),
};

export function lateMessage(what: string): string {
  return `Waited ${PATIENCE_MS / 60_000} minutes for ${what}.`;
}
