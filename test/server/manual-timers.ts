/** Timers of streams that stand still until a test moves them. */

import type { SendTimer, SendTimers } from "../../src/server/send-answer.ts";
import { untilTrue } from "../patience.ts";

export interface ManualTimers extends SendTimers {
  /** Resolves once there is a timer. */
  started(): Promise<void>;
  /** Moves the time forward. Timers that are due run in the order of their times. */
  advance(ms: number): void;
}

interface Entry extends SendTimer {
  readonly isRepeated: boolean;
  readonly run: () => void;
  dueMs: number;
}

export function createManualTimers(): ManualTimers {
  let nowMs = 0;
  const entries = new Set<Entry>();
  const start = (run: () => void, ms: number, isRepeated: boolean): Entry => {
    const refresh = (): void => {
      entry.dueMs = nowMs + ms;
    };
    const entry: Entry = { isRepeated, run, dueMs: nowMs + ms, refresh };
    entries.add(entry);
    return entry;
  };
  const firstDue = (untilMs: number): Entry | undefined =>
    [...entries].filter(({ dueMs }) => dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0];
  return {
    once: (run, ms) => start(run, ms, false),
    every: (run, ms) => start(run, ms, true),
    stop: (timer) => void entries.delete(timer as Entry),
    started: () => untilTrue(() => entries.size > 0, "a timer of a stream"),
    advance(ms) {
      const untilMs = nowMs + ms;
      for (let entry = firstDue(untilMs); entry; entry = firstDue(untilMs)) {
        nowMs = entry.dueMs;
        if (entry.isRepeated) entry.refresh();
        else entries.delete(entry);
        entry.run();
      }
      nowMs = untilMs;
    },
  };
}
