/**
 * The queue of background responses, in the record: a fixed number runs at once in all processes; the others wait
 * without an owner, and tenants take turns. The waiting responses of a tenant are limited, so that no tenant fills
 * the record with work that cannot be done soon.
 */

import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { Engine, QueuedPlace, RunContext } from "../../engine/engine.ts";

/** The first step of a background response that has its turn. It returns the opening (`past-opening.ts`). */
export const BEGIN_KEY = "begin";

export const BACKGROUND_QUEUE = "background";

export interface BackgroundLimits {
  /** How many run at once. */
  readonly maxBackground: number;
  /** How many of a tenant may wait; any number when left out. */
  readonly maxQueued?: number | undefined;
}

/** A fixed wait, because it is not known how long earlier ones take. */
const RETRY_MS = 5000;

/** Returns the queue place with which a tenant's response is written down. */
export function defineBackground(
  engine: Engine,
  { maxBackground, maxQueued = Number.MAX_SAFE_INTEGER }: BackgroundLimits,
): (tenant: string) => QueuedPlace {
  engine.defineQueue(BACKGROUND_QUEUE, { atOnce: maxBackground });
  return (tenant) => ({
    name: BACKGROUND_QUEUE,
    lane: tenant,
    maxWaiting: maxQueued,
    toFull: () => toFull(maxQueued),
  });
}

function toFull(maxQueued: number): Failure {
  const message = `${maxQueued} background responses are already waiting, which is the limit. Try again when some have begun.`;
  return new Failure("rate_limited", message, { retryAfterMs: RETRY_MS });
}

/**
 * Takes one of a key's places for a run; the returned function gives it back. Undefined if all are taken.
 */
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
 * Waits for one of its key's places, and for a turn among background responses. A response without a place gives its
 * turn to others, so that a key with few places delays no other key. One that an earlier process has begun keeps its
 * turn: it would have to wait for another, and the process that took it then could not tell that it was interrupted.
 */
export async function enterBackground(
  { enterPlace, clock }: PlaceParts,
  { context, wish: { tenant, key_id } }: Entering,
): Promise<() => void> {
  const enter = async () => (key_id === null ? NO_PLACE : await (enterPlace?.(key_id) ?? NO_PLACE));
  let leave = await enter();
  const hasBegun = context.recall(BEGIN_KEY) !== undefined;
  if (!leave && !hasBegun) await context.giveTurnBack();
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

/** For a key whose places are not counted. */
const NO_PLACE = (): void => {};

/** How often a response checks if its key has a place again. */
const PLACE_MS = 250;
