/** Whether the process can answer: it is not about to stop, and its record is sound and can be written. */

import type { Clock } from "../../base/clock.ts";
import { type FailureCode, toFailure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";

export interface Health {
  /** Why it is not ready; undefined when it is. */
  check(): Promise<NotReady | undefined>;
}

/** `draining`, or the code of the failure: which file it is about is for the operator alone. */
type NotReady = FailureCode;

interface HealthParts {
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  /** Whether a check beside the server has found the record damaged. */
  readonly isDamaged: () => boolean;
  readonly engine: () => Engine;
}

/** Probes come each second or so, from several places: one write does for all. */
const FRESH_MS = 1000;

export function createHealth({ clock, isDraining, isDamaged, engine }: HealthParts): Health {
  let checkedMs = Number.NEGATIVE_INFINITY;
  let problem: NotReady | undefined;
  return {
    async check() {
      if (isDraining()) return "draining";
      if (isDamaged()) return "store_failed";
      if (clock.now() - checkedMs < FRESH_MS) return problem;
      checkedMs = clock.now();
      problem = await tryToWrite(engine());
      return problem;
    },
  };
}

async function tryToWrite(engine: Engine): Promise<NotReady | undefined> {
  try {
    await engine.checkWritable();
    return undefined;
  } catch (thrown) {
    return toFailure(thrown).code;
  }
}
