/**
 * Reports which code of a run is at work, to check the rule that children, waits and other steps belong to run code,
 * never to the code of a step. Programs have no listener; the tests do.
 */

import { channel } from "node:diagnostics_channel";

/** The code of a step or a stage, as `offshoot:step` carries it. */
export interface CodeOfRun {
  readonly run: string;
  readonly key: string;
  /**
   * `body` is run code outside steps. A stage is run code, too. A `look` reads, outside steps, what a takeover reads
   * again and compares with the journal.
   */
  readonly kind: "body" | "step" | "stage" | "look";
}

/** What only run code may do, as `offshoot:run-code` carries it. */
export interface RunCodeUse {
  readonly run: string;
  readonly does: string;
}

const entered = channel("offshoot:step");
const used = channel("offshoot:run-code");

export function enterCode<Out>(code: CodeOfRun, work: () => Promise<Out>): Promise<Out> {
  return entered.hasSubscribers ? entered.runStores(code, work) : work();
}

/** Reads what is too large for a journal: the caller makes sure that a takeover continues with the same. */
export function lookAgain<Out>(run: string, read: () => Promise<Out>): Promise<Out> {
  return enterCode({ run, key: "", kind: "look" }, read);
}

export function noteRunCode(use: RunCodeUse): void {
  if (used.hasSubscribers) used.publish(use);
}
