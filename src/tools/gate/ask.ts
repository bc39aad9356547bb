/** A question to the person behind a run. Answers come from a terminal, never from a model or a tool. */

import type { Effect } from "../tool.ts";

/** The subagent whose call it is. Its label and task are a model's words: to be shown escaped. */
export interface Asker {
  readonly label: string;
  /** The agent it is, by the name of its file; null for one that is none. */
  readonly agent: string | null;
  /** Its place in the tree: `/root/review-1.0`. */
  readonly path: string;
  /** 1 for a child of the run that a person started. */
  readonly depth: number;
  /** What it was asked to do, cut short. */
  readonly task: string;
}

export interface Question {
  /** Who asks; null for the run that a person started. */
  readonly child: Asker | null;
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

/**
 * `always` is for this run and what the question says, `tree` the same for every run of the tree, those that
 * wait for an answer too; `cancel` ends the run.
 */
export const ANSWERS = ["yes", "no", "always", "tree", "cancel"] as const;
export type Answer = (typeof ANSWERS)[number];

/** The signal is aborted when the run ends, and when another answer has settled the question. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;
