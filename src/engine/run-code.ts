/**
 * Says which code of a run is at work, for whoever holds it against the rule: children, waits and other steps
 * belong to run code, never to the code of a step. Nobody listens in a program; the tests do.
 */

import { channel } from "node:diagnostics_channel";

/** The code of a step or a stage, as `offshoot:step` carries it. */
export interface CodeOfRun {
  readonly run: string;
  readonly key: string;
  /**
   * `body` is run code outside of steps. A stage is run code, too. A `look` reads outside of steps what a takeover
   * reads again, and holds against what the journal says of it.
   */
  readonly kind: "body" | "step" | "stage" | "look";
}

/** What run code alone may do, as `offshoot:run-code` carries it. */
export interface RunCodeUse {
  readonly run: string;
  readonly does: string;
}

const entered = channel("offshoot:step");
const used = channel("offshoot:run-code");

export function enterCode<Out>(code: CodeOfRun, work: () => Promise<Out>): Promise<Out> {
  return entered.hasSubscribers ? entered.runStores(code, work) : work();
}

/** Reads what is too large for a journal: whoever calls this sees to it that a takeover goes on with the same. */
export function lookAgain<Out>(run: string, read: () => Promise<Out>): Promise<Out> {
  return enterCode({ run, key: "", kind: "look" }, read);
}

export function noteRunCode(use: RunCodeUse): void {
  if (used.hasSubscribers) used.publish(use);
}
