/** Counts turns: with n runs in a queue, each must be served within n grants. */

import assert from "node:assert/strict";

export interface Turns {
  enter(run: string): void;
  /** A call of the run was let through. */
  serve(run: string): void;
  /** A call of the run left. */
  leave(run: string): void;
  /** How many calls are in the queue. */
  readonly waiting: number;
}

export function createTurns(): Turns {
  /** Each waiting run's calls, and the number of grants within which one of them must be let through. */
  const runs = new Map<string, { calls: number; due: number }>();

  function leave(name: string): void {
    const run = runs.get(name) ?? assert.fail(`${name} was not in the line`);
    run.calls--;
    if (run.calls === 0) runs.delete(name);
  }

  return {
    enter(name) {
      const run = runs.get(name) ?? { calls: 0, due: runs.size + 1 };
      run.calls++;
      runs.set(name, run);
    },
    serve(name) {
      for (const run of runs.values()) run.due--;
      const served = runs.get(name);
      if (served) served.due = runs.size;
      leave(name);
      for (const [other, { due }] of runs) assert.ok(due > 0, `${other} was passed over`);
    },
    leave,
    get waiting() {
      return [...runs.values()].reduce((sum, { calls }) => sum + calls, 0);
    },
  };
}
