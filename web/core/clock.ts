/** The time, for what is running: moves once a second while the page is visible and somebody reads it. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export const now = signal(Date.now());
let readers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Keeps `now` moving while a view that shows something open is on the page. */
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
