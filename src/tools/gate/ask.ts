/**
 * A question to the person who started a run. Answers come from a terminal or from a message that a person left,
 * never from a model or a tool.
 */

import type { Asker } from "../../protocol/tool-question.ts";
import type { Effect } from "../tool.ts";

export type { Asker } from "../../protocol/tool-question.ts";

export interface Question {
  /** Names it in the log of its run; answers from elsewhere are left under it. */
  readonly id: string;
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
  /**
   * Whether it is asked whatever was always allowed: a rule asks about it, it touches files that may hold
   * keys, or its tool has changed.
   */
  readonly asksEveryTime: boolean;
  /** How long an answer is waited for; null where that is as long as the run. */
  readonly waitMs: number | null;
}

/**
 * `always` is for this run and what the question says, `tree` the same for every run of the tree, those that
 * wait for an answer too; `cancel` ends the run.
 */
export const ANSWERS = ["yes", "no", "always", "tree", "cancel"] as const;
export type Answer = (typeof ANSWERS)[number];

/** A no with words for the model. */
export interface Denial {
  readonly answer: "no";
  readonly reason: string;
}

/** The signal is aborted when the run ends, and when another answer has settled the question. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer | Denial>;

/** An answer that somebody gave in another place than the one where the question was put. */
export interface AnswerFromElsewhere {
  readonly answer: Answer;
  /** Words for the model, with a no. */
  readonly reason?: string | undefined;
  /** Of the message that brought it. */
  readonly key: string;
  /** For a person: `another terminal`. */
  readonly from: string;
}

/** Puts a question wherever it can be answered. Rejects with `timeout` where no answer came in time. */
export type AskAnywhere = (
  question: Question,
  signal: AbortSignal,
) => Promise<Answer | Denial | AnswerFromElsewhere>;

/** A no, with the words that came along. */
export function toDenial(reason: string | undefined): "no" | Denial {
  const words = reason?.trim() ?? "";
  return words === "" ? "no" : { answer: "no", reason: words };
}
