/**
 * Work that may never end, on input of strangers: a schema, a regular expression. It runs in this thread,
 * and the runtime stops it when its time is over, even inside a regular expression. Until then nothing else
 * in this process runs, so limits are short.
 *
 * The runtime measures wall-clock time. On a busy machine that time may pass before the work has used it;
 * the work is then tried again with more, until its processor time is over too.
 */

import { type Context, createContext, Script } from "node:vm";
import { Failure } from "./failure.ts";
import { readThreadMs } from "./thread-time.ts";

export interface WorkLimit {
  /** The limit of processor time. */
  readonly limitMs: number;
  /** Names the work in the refusal: `The output schema`. */
  readonly what: string;
  readonly param?: string | undefined;
  /** Returns the processor time that this thread has used until now, in milliseconds. */
  readonly readUsedMs?: (() => number) | undefined;
}

const CALL = new Script("work()");
/** The context of the work, made once: it costs half a millisecond, a call in it a quarter. */
let place: Context | undefined;

/**
 * Runs pure work within a limit. Work that is stopped leaves its data as it is at that moment, and not even its
 * `finally` runs. The next try must therefore start with fresh data. Rejects with `invalid_request` if the work takes
 * too long or too much memory, and otherwise as the work does.
 */
export function runWithin<Out>(limit: WorkLimit, work: () => Out): Out {
  const { limitMs, what, param, readUsedMs = readThreadMs } = limit;
  let done: { readonly value: Out } | undefined;
  place ??= createContext({});
  const context = place;
  const attempt = (timeout: number): void => {
    // Nested calls have a name of their own.
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
    // Nested too deep, or too long for one text or list.
    if (!(cause instanceof RangeError)) throw cause;
    throw new Failure("invalid_request", `${what} asks for too much.`, details);
  }
  // The work has returned or thrown.
  return (done as { readonly value: Out }).value;
}

/** The share of the limit from which the time counts as the work's own. Some of it is the runtime's. */
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
