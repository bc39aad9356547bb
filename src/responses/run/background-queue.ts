/**
 * The queue of background responses, in the record: so many run at once in all processes, the others wait
 * without an owner, in turn by tenant. How many of a tenant may wait is bounded, so that nobody fills the
 * record with what cannot be done soon.
 */

import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { Engine, QueuedPlace, RunContext } from "../../engine/engine.ts";

export const BACKGROUND_QUEUE = "background";

export interface BackgroundLimits {
  /** How many run at once. */
  readonly maxBackground: number;
  /** How many of a tenant may wait; any number where it is left out. */
  readonly maxQueued?: number | undefined;
}

/** Nobody knows how long those before it take. */
const RETRY_MS = 5000;

/** Returns the place that a tenant's response is written down with. */
export function defineBackground(
  engine: Engine,
  { maxBackground, maxQueued = Number.MAX_SAFE_INTEGER }: BackgroundLimits,
): (tenant: string) => QueuedPlace {
  engine.defineQueue(BACKGROUND_QUEUE, { atOnce: maxBackground });
  return (tenant) => ({
    ...{ name: BACKGROUND_QUEUE, lane: tenant, maxWaiting: maxQueued },
    toFull: () => toFull(maxQueued),
  });
}

function toFull(maxQueued: number): Failure {
  const message = `${maxQueued} background responses wait already, which is the most. Ask again when some have begun.`;
  return new Failure("rate_limited", message, { retryAfterMs: RETRY_MS });
}

/** Takes one of a key's places for a run, which ends it; undefined where all are taken. */
export type EnterPlace = (keyId: string) => Promise<(() => void) | undefined>;

interface PlaceParts {
  readonly clock: Clock;
  readonly enterPlace?: EnterPlace | undefined;
}

interface Entering {
  readonly context: RunContext;
  readonly wish: { readonly tenant: string; readonly key_id: string | null };
}

/**
 * Waits for one of its key's places, and for a turn among background responses. Who has no place gives
 * its turn to others, so that a key with few places keeps nobody else waiting.
 */
export async function enterBackground(
  { enterPlace, clock }: PlaceParts,
  { context, wish: { tenant, key_id } }: Entering,
): Promise<() => void> {
  const enter = async () => (key_id === null ? NO_PLACE : await (enterPlace?.(key_id) ?? NO_PLACE));
  let leave = await enter();
  if (!leave) await context.giveTurnBack();
  while (!leave) {
    await clock.sleep(PLACE_MS, context.signal);
    leave = await enter();
  }
  try {
    await context.turn(BACKGROUND_QUEUE, tenant);
    return leave;
  } catch (thrown) {
    leave();
    throw thrown;
  }
}

/** Of a key whose places nobody counts. */
const NO_PLACE = (): void => {};

/** How often a response looks whether its key has a place again. */
const PLACE_MS = 250;
