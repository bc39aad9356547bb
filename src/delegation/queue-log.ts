/**
 * Writes into a run's log which of its children wait to be started, and why, for readers of the log.
 *
 * One event at a time is being written; children that begin to wait meanwhile are in the next one together. So a turn
 * that asks for a thousand children writes a few events, and not one for each.
 */

import type { QueuedChild, WaitReason } from "../protocol/child-queue.ts";
import type { RunEvent } from "../protocol/run-events.ts";

/** A later reason with no higher rank is not written: the first is true enough, and each costs a write. */
const RANKS: Readonly<Record<WaitReason, number>> = { place: 0, process: 1, budget: 2 };

export interface WaitingChild extends QueuedChild {
  readonly callKey: string;
}

export interface QueueLog {
  /** These children wait. May be called again; a new reason applies to all of their call that still wait. */
  wait(children: readonly WaitingChild[], why: WaitReason): void;
  /** The child waits no longer: it starts, or never will. */
  leave(childId: string): void;
}

interface QueueLogParts {
  emit(events: readonly RunEvent[]): Promise<unknown>;
  now(): number;
}

export function createQueueLog(parts: QueueLogParts): QueueLog {
  const waiting = new Map<string, { child: WaitingChild; why: WaitReason; isTold: boolean }>();
  let isWriting = false;

  function put(child: WaitingChild, why: WaitReason): boolean {
    const before = waiting.get(child.child_id);
    if (before && RANKS[why] <= RANKS[before.why]) return false;
    waiting.set(child.child_id, { child, why, isTold: false });
    return before !== undefined;
  }

  async function write(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    try {
      for (let events = take(); events.length > 0; events = take()) await parts.emit(events);
    } catch {
      // If the log cannot be written, the next awaited event fails.
    } finally {
      isWriting = false;
    }
  }

  /** An event for each reason, with the children that were not written yet. */
  function take(): RunEvent[] {
    const untold = [...waiting.values()].filter(({ isTold }) => !isTold);
    const reasons = new Set(untold.map(({ why }) => why));
    return [...reasons].map((why): RunEvent => {
      const own = untold.filter((one) => one.why === why);
      for (const one of own) one.isTold = true;
      const children = own.map(({ child: { child_id, label } }) => ({ child_id, label }));
      return { type: "child_queue", why, children, at_ms: parts.now() };
    });
  }

  return {
    wait(children, why) {
      const changed = new Set(
        children.filter((child) => put(child, why)).map(({ callKey }) => callKey),
      );
      if (changed.size > 0) {
        for (const { child } of [...waiting.values()])
          if (changed.has(child.callKey)) put(child, why);
      }
      void write();
    },
    leave: (childId) => void waiting.delete(childId),
  };
}
