/**
 * Waiting for messages, across restarts. Two journal keys for each wait: its deadline, written
 * before it waits, and its timeout. The store journals what a wait received as it is taken.
 */

import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { Journal } from "../store/journal.ts";
import type { Mailbox } from "../store/mailbox.ts";
import { takenKey } from "../store/taken-key.ts";
import type { RunContext, WaitOptions } from "./engine.ts";
import type { Hub, RunEventsListener } from "./hub.ts";
import type { OwnedRun } from "./owned-run.ts";

/** How often to look for messages that another process left; those of this one wake the wait. */
const POLL_MS = 1000;

interface WaitParts {
  readonly store: Mailbox & Journal;
  readonly hub: Hub;
  readonly clock: Clock;
  readonly owned: OwnedRun;
}

export type WaitFor = RunContext["waitFor"];

/** The waits of one execution. They are identified by their order on their topic. */
export function createWaits(parts: WaitParts): WaitFor {
  const waits = new Map<string, number>();
  const received = new Map<string, number>();
  const pending = new Set<string>();

  return async (topic, timeoutMs, options = {}) => {
    if (pending.has(topic)) {
      const message = `Run ${parts.owned.run.id} waits for \`${topic}\` twice at once.`;
      throw new Failure("internal", message);
    }
    pending.add(topic);
    const index = waits.get(topic) ?? 0;
    const taken = received.get(topic) ?? 0;
    waits.set(topic, index + 1);
    try {
      const message = await waitOnce(parts, { topic, timeoutMs, index, taken, ...options });
      if (message === undefined) return null;
      received.set(topic, taken + 1);
      return message;
    } finally {
      pending.delete(topic);
    }
  };
}

interface Wait extends WaitOptions {
  readonly topic: string;
  readonly timeoutMs: number;
  readonly index: number;
  /** How many messages the waits before this one received. */
  readonly taken: number;
}

interface Receiving extends Pick<Wait, "topic" | "signal" | "onWait"> {
  readonly key: string;
  readonly endsAtMs: number;
}

async function waitOnce(parts: WaitParts, wait: Wait): Promise<Json | undefined> {
  const { journal } = parts.owned;
  const key = `@wait:${wait.topic}:${wait.index}`;
  if (journal.has(`${key}:timeout`)) return undefined;
  const message = journal.get(takenKey(wait.topic, wait.taken));
  if (message !== undefined) return message;

  const endsAtMs = await readDeadline(parts, key, wait.timeoutMs);
  const listener = parts.hub.listen(parts.owned.run.id, 0);
  try {
    return await receive(parts, listener, { ...wait, key, endsAtMs });
  } finally {
    listener.close();
  }
}

async function readDeadline(parts: WaitParts, key: string, timeoutMs: number): Promise<number> {
  const known = parts.owned.journal.get(key);
  if (typeof known === "number") return known;
  if (timeoutMs === Number.POSITIVE_INFINITY) return timeoutMs;
  // More than JSON can hold exactly.
  const value = Math.min(parts.clock.now() + timeoutMs, Number.MAX_SAFE_INTEGER);
  await save(parts, key, value);
  return value;
}

async function receive(
  parts: WaitParts,
  listener: RunEventsListener,
  { topic, key, endsAtMs, signal: given, onWait }: Receiving,
): Promise<Json | undefined> {
  const { store, clock, owned } = parts;
  const signal = given ? AbortSignal.any([owned.signal, given]) : owned.signal;
  for (let looks = 0; ; looks++) {
    signal.throwIfAborted();
    // Taken before the clock is read: what came while no process ran the run still counts.
    const message = await owned.write(() => store.takeSignal(owned.run.id, owned.epoch, topic));
    if (message !== undefined) return message;
    const leftMs = endsAtMs - clock.now();
    if (leftMs <= 0) {
      await save(parts, `${key}:timeout`, null);
      return undefined;
    }
    if (looks === 0) onWait?.();
    await listener.wait(Math.min(leftMs, POLL_MS), signal);
  }
}

function save({ store, owned }: WaitParts, key: string, value: Json): Promise<void> {
  return owned.write(() => store.saveStep(owned.run.id, owned.epoch, { key, value }));
}
