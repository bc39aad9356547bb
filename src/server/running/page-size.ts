/** How much to do between two moments in which others may have their turn, learned by doing it. */

import { performance } from "node:perf_hooks";

const FIRST_SIZE = 8;
const MAX_SIZE = 256;
/** A page that takes longer is followed by a smaller one: this is what others wait. */
const MAX_MS = 10;
/** A page that is faster than this is followed by a larger one. */
const MIN_MS = 3;

export interface PageSize {
  readonly size: number;
  /** Does the work of one page, and learns from how long it took. */
  time<Out>(work: () => Promise<Out>): Promise<Out>;
}

export function createPageSize(now: () => number = () => performance.now()): PageSize {
  let size = FIRST_SIZE;
  return {
    get size() {
      return size;
    },
    async time(work) {
      const startedMs = now();
      const result = await work();
      const tookMs = now() - startedMs;
      if (tookMs > MAX_MS) size = Math.max(1, Math.floor(size / 2));
      else if (tookMs < MIN_MS) size = Math.min(MAX_SIZE, size * 2);
      return result;
    },
  };
}
