/** Watches whether the process that started this one still lives. */

import type { Clock } from "../../base/clock.ts";

/**
 * How often the parent's process id is checked: the life line is faster, and this is for when another process keeps it
 * open.
 */
const LOOK_MS = 1000;

interface Watching {
  /** Aborts when the life line is closed. */
  readonly parentGone: AbortSignal;
  readonly clock: Clock;
  /** The id of this process's parent now. */
  parentId(): number;
  /** Called once. */
  onGone(): void;
}

/**
 * Calls `onGone` when the parent is gone, by the life line or by its process id; the returned function ends the watch.
 */
export function watchParent({ parentGone, clock, parentId, onGone }: Watching): () => void {
  const done = new AbortController();
  const first = parentId();
  const tell = (): void => {
    if (done.signal.aborted) return;
    done.abort();
    onGone();
  };
  const look = async (): Promise<void> => {
    try {
      while (parentId() === first) await clock.sleep(LOOK_MS, done.signal);
      tell();
    } catch {
      // The watch has ended.
    }
  };
  if (parentGone.aborted) queueMicrotask(tell);
  else parentGone.addEventListener("abort", tell, { once: true, signal: done.signal });
  void look();
  return () => done.abort();
}
