/**
 * The present time, for what is running: updated once a second while the page is visible and uses it.
 */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export const now = signal(Date.now());
let readers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Keeps `now` up to date while a view shows something that is running. */
export function useClock(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return;
    now.value = Date.now();
    readers += 1;
    timer ??= setInterval(() => {
      if (!document.hidden) now.value = Date.now();
    }, 1000);
    return () => {
      readers -= 1;
      if (readers > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, [isNeeded]);
}
