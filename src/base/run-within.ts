/**
 * Work on what a stranger wrote that may never end: a schema, a regular expression. It runs here and
 * now, and the runtime stops it when its time is over, native code of regular expressions included.
 * Until then nothing else of this process runs, so limits are short.
 *
 * The runtime counts by the clock on the wall. On a machine that is busy with other work the time may be over
 * before the work has had it: then it is tried again with more, until the processor's own count is over too.
 */

import { type Context, createContext, Script } from "node:vm";
import { Failure } from "./failure.ts";
import { readThreadMs } from "./thread-time.ts";

export interface WorkLimit {
  /** Of the processor's time. */
  readonly limitMs: number;
  /** Names it in the refusal: `The output schema`. */
  readonly what: string;
  readonly param?: string | undefined;
  /** How much of the processor's time this thread has used until now, in milliseconds. */
  readonly readUsedMs?: (() => number) | undefined;
}

const CALL = new Script("work()");
/** Made once: a context costs half a millisecond, a call in it a quarter. */
let place: Context | undefined;

/**
 * For pure work alone: what is stopped in the middle stays as it is. Rejects with `invalid_request` what
 * takes too long or too much memory, and else as the work does.
 */
export function runWithin<Out>(limit: WorkLimit, work: () => Out): Out {
  const { limitMs, what, param, readUsedMs = readThreadMs } = limit;
  let done: { readonly value: Out } | undefined;
  place ??= createContext({});
  const context = place;
  const attempt = (timeout: number): void => {
    // Work within the work has a name for itself too.
    context["work"] = () => {
      done = { value: work() };
    };
    CALL.runInContext(context, { timeout });
  };
  try {
    tryInTime(attempt, limitMs, readUsedMs);
  } catch (cause) {
    const details = { param, cause };
    if (isLate(cause)) {
      throw new Failure("invalid_request", `${what} takes too long to work with.`, details);
    }
    // Too deep, or too long for one text or list.
    if (!(cause instanceof RangeError)) throw cause;
    throw new Failure("invalid_request", `${what} asks for too much.`, details);
  }
  // It has run to its end, or thrown.
  return (done as { readonly value: Out }).value;
}

/** A part of what was used is the runtime's own: less than the whole limit tells that it was the work's. */
const MOST_USED = 0.8;
const GROWTH = 4;

function tryInTime(
  attempt: (timeout: number) => void,
  limitMs: number,
  readUsedMs: () => number,
): void {
  for (let timeout = limitMs; ; timeout *= GROWTH) {
    const beforeMs = readUsedMs();
    try {
      attempt(timeout);
      return;
    } catch (thrown) {
      const isUsed = readUsedMs() - beforeMs >= limitMs * MOST_USED;
      if (isUsed || !isLate(thrown)) throw thrown;
    }
  }
}

function isLate(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
