/**
 * Checks if the process can answer: it is not about to stop, and its record is sound and writable.
 */

import { type FailureCode, toFailure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";
import { describeClock, type RecordClock } from "../../store/record-clock.ts";

export interface Health {
  /** Returns why it is not ready; undefined when it is. */
  check(): Promise<NotReady | undefined>;
  /** A warning for the operator of a server that is ready: a line, or undefined. */
  readonly notice: string | undefined;
}

/** `draining`, or the code of the failure. Only the operator learns which file it is about. */
type NotReady = FailureCode;

interface HealthParts {
  readonly clock: RecordClock;
  readonly isDraining: () => boolean;
  /** True if a check of the record in another process has found damage. */
  readonly isDamaged: () => boolean;
  readonly engine: () => Engine;
}

/** Probes come about each second from several places; one write is enough for all of them. */
const FRESH_MS = 1000;

export function createHealth({ clock, isDraining, isDamaged, engine }: HealthParts): Health {
  let checkedMs = Number.NEGATIVE_INFINITY;
  let problem: NotReady | undefined;
  return {
    get notice() {
      return describeClock(clock);
    },
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
