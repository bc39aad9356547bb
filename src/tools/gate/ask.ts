/** A question to the person behind a run. Answers come from a terminal, never from a model or a tool. */

import type { Effect } from "../tool.ts";

export interface Question {
  readonly tool: string;
  /** The arguments as the model wrote them: to be shown escaped. */
  readonly arguments: string;
  readonly effect: Effect;
  /** Why it is asked. */
  readonly reason: string;
  /** What would hold the commands it runs. */
  readonly sandbox: string;
  /** The rules that `always` stands for: `shell(git log *)`. None where it is for the very same call. */
  readonly always: readonly string[];
}

/** `always` is for this run and what the question says; `cancel` ends the run. */
export const ANSWERS = ["yes", "no", "always", "cancel"] as const;
export type Answer = (typeof ANSWERS)[number];

export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;
