/**
 * A question to the user who started a run. Answers come from a terminal or from a message of a user, never
 * from a model or a tool.
 */

import type { Asker } from "../../protocol/tool-question.ts";
import type { Effect } from "../tool.ts";

export type { Asker } from "../../protocol/tool-question.ts";

export interface Question {
  /** The question's name in the log of its run. Answers from elsewhere refer to it. */
  readonly id: string;
  /** The subagent that asks; null for the run that a user started. */
  readonly child: Asker | null;
  readonly tool: string;
  /** The arguments as the model wrote them. Escape them before you show them. */
  readonly arguments: string;
  readonly effect: Effect;
  /** The reason for the question. */
  readonly reason: string;
  /** The sandbox of its commands. */
  readonly sandbox: string;
  /** The rules that `always` adds: `shell(git log *)`. Empty if it covers only an identical call. */
  readonly always: readonly string[];
  /**
   * True if `always` does not prevent the question: a rule asks about the call, it touches files that may
   * contain keys, or its tool has changed.
   */
  readonly asksEveryTime: boolean;
  /** How long an answer is waited for; null for as long as the run lasts. */
  readonly waitMs: number | null;
}

/**
 * `always` covers calls of this run that the question names; `tree` covers the same calls of every run of
 * the tree, also those that wait for an answer; `cancel` ends the run.
 */
export const ANSWERS = ["yes", "no", "always", "tree", "cancel"] as const;
export type Answer = (typeof ANSWERS)[number];

/** A no with a reason for the model. */
export interface Denial {
  readonly answer: "no";
  readonly reason: string;
}

/** The signal is aborted when the run ends, and when another answer has settled the question. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer | Denial>;

/** An answer that was given elsewhere than where the question was asked. */
export interface AnswerFromElsewhere {
  readonly answer: Answer;
  /** A reason for the model, with a no. */
  readonly reason?: string | undefined;
  /** The key of the message that brought it. */
  readonly key: string;
  /** The place, for people: `another terminal`. */
  readonly from: string;
}

/** Asks a question everywhere it can be answered. Rejects with `timeout` if no answer came in time. */
export type AskAnywhere = (
  question: Question,
  signal: AbortSignal,
) => Promise<Answer | Denial | AnswerFromElsewhere>;

/** A no, with the reason if there is one. */
export function toDenial(reason: string | undefined): "no" | Denial {
  const words = reason?.trim() ?? "";
  return words === "" ? "no" : { answer: "no", reason: words };
}
