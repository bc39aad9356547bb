/** Loads new settings while the server runs: on request, or because a file has changed. */

import { stat } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";

export interface FileWatcher {
  /** Watches these files from now on, in place of the earlier ones. */
  set(files: readonly string[]): Promise<void>;
  close(): void;
}

/**
 * Editors often write a new file and rename it, which the system's watchers lose. One check costs a few microseconds.
 */
const LOOK_MS = 1000;

/**
 * Calls back when a file has appeared, changed or gone, but not again before the callback has resolved.
 */
export function watchFiles(clock: Clock, onChange: () => Promise<void>): FileWatcher {
  const closed = new AbortController();
  let files: readonly string[] = [];
  let seen = "";
  void look();
  return {
    async set(changed) {
      files = changed;
      seen = await readMarks(files);
    },
    close: () => closed.abort(),
  };

  async function look(): Promise<void> {
    while (!closed.signal.aborted) {
      await clock.sleep(LOOK_MS, closed.signal).catch(() => {});
      const now = await readMarks(files);
      if (closed.signal.aborted || now === seen) continue;
      seen = now;
      await onChange();
    }
  }
}

async function readMarks(files: readonly string[]): Promise<string> {
  const marks = files.map(async (file) => {
    const stats = await stat(file).catch(() => undefined);
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : "";
  });
  return (await Promise.all(marks)).join("\n");
}

/**
 * Reloads run one after the other; of those that wait, only the last one runs: a save often comes as several changes.
 */
export function createReloader(reload: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    running = reload().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (!running) return start();
    next ??= running.then(() => {
      next = undefined;
      return start();
    });
    return next;
  };
}
