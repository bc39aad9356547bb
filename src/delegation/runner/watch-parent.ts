/** Whether the process that started this one still lives. */

import type { Clock } from "../../base/clock.ts";

/** How often the parent's number is looked at: the life line is faster, and this is for when it is held by another. */
const LOOK_MS = 1000;

interface Watching {
  /** Aborts when the life line is cut. */
  readonly parentGone: AbortSignal;
  readonly clock: Clock;
  /** This process's parent now. */
  parentId(): number;
  /** Called once. */
  onGone(): void;
}

/** Calls back when the parent is gone, by the life line or by its number; the returned function ends it. */
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
      // Nobody watches any more.
    }
  };
  if (parentGone.aborted) queueMicrotask(tell);
  else parentGone.addEventListener("abort", tell, { once: true, signal: done.signal });
  void look();
  return () => done.abort();
}
