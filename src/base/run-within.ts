/**
 * Work on what a stranger wrote that may never end: a schema, a regular expression. It runs here and
 * now, and the runtime stops it when its time is over, native code of regular expressions included.
 * Until then nothing else of this process runs, so limits are short.
 */

import { type Context, createContext, Script } from "node:vm";
import { Failure } from "./failure.ts";

export interface WorkLimit {
  readonly limitMs: number;
  /** Names it in the refusal: `The output schema`. */
  readonly what: string;
  readonly param?: string | undefined;
}

const CALL = new Script("work()");
/** Made once: a context costs half a millisecond, a call in it a quarter. */
let place: Context | undefined;

/**
 * For pure work alone: what is stopped in the middle stays as it is. Rejects with `invalid_request` what
 * takes too long or too much memory, and else as the work does.
 */
export function runWithin<Out>({ limitMs, what, param }: WorkLimit, work: () => Out): Out {
  let done: { readonly value: Out } | undefined;
  place ??= createContext({});
  place["work"] = () => {
    done = { value: work() };
  };
  try {
    CALL.runInContext(place, { timeout: limitMs });
  } catch (cause) {
    const details = { param, cause };
    if ((cause as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      throw new Failure("invalid_request", `${what} takes too long to work with.`, details);
    }
    // Too deep, or too long for one text or list.
    if (!(cause instanceof RangeError)) throw cause;
    throw new Failure("invalid_request", `${what} asks for too much.`, details);
  }
  // It has run to its end, or thrown.
  return (done as { readonly value: Out }).value;
}
