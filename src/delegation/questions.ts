/**
 * What children ask their parents, and wait for. A question is open as long as its call is being made, so
 * nothing of it is kept: a child that is resumed asks again. The answer is a message of the engine's, which
 * waits for the child in the record, wherever it is.
 *
 * A child in a process of its own tells its parent's process with a frame of its standard output when a
 * question opens, and when it closes.
 */

import type { JsonObject } from "../base/json.ts";
import type { OtherRuns } from "../engine/engine.ts";

/** The name of the frame. */
export const QUESTION = "subagent_question";

export interface Question {
  /** The id of the run that asks. */
  readonly child: string;
  /** The idempotency key of its call. */
  readonly key: string;
  readonly text: string;
}

export interface OpenQuestions {
  of(child: string): Question | undefined;
  /** Call what it returns when it is answered. */
  open(question: Question): () => void;
  /** Calls `listener` for each question of the child, also for one that is open. Ends by what it returns. */
  listen(child: string, listener: (question: Question) => void): () => void;
}

/** Told of each question when it opens, and with null in place of its text when it closes. */
export type TellQuestion = (question: Omit<Question, "text"> & QuestionText) => void;

interface QuestionText {
  readonly text: string | null;
}

export function createOpenQuestions(tell: TellQuestion = () => {}): OpenQuestions {
  const open = new Map<string, Question>();
  const listeners = new Map<string, (question: Question) => void>();
  return {
    of: (child) => open.get(child),
    open(question) {
      const { child } = question;
      open.set(child, question);
      listeners.get(child)?.(question);
      tell(question);
      return () => {
        if (open.get(child) !== question) return;
        open.delete(child);
        tell({ ...question, text: null });
      };
    },
    listen(child, listener) {
      listeners.set(child, listener);
      const asked = open.get(child);
      if (asked) listener(asked);
      return () => {
        if (listeners.get(child) === listener) listeners.delete(child);
      };
    },
  };
}

/** What a child in a process of its own says of its question. */
export type QuestionFrame = Pick<Question, "key"> & QuestionText;

export function encodeQuestion({ key, text }: QuestionFrame): JsonObject {
  return { type: QUESTION, key, text };
}

/** Undefined for a frame that is none. */
export function parseQuestion({ key, text }: JsonObject): QuestionFrame | undefined {
  if (typeof key !== "string" || (typeof text !== "string" && text !== null)) return undefined;
  return { key, text };
}

/** One topic a question: an answer that comes too late is not taken for that of the next one. */
export function toAnswerTopic(key: string): string {
  return `answer:${key.slice(key.lastIndexOf("/") + 1)}`;
}

/** Leaves the answer; null where there is none. The same key again is the same answer. */
export async function sendAnswer(
  runs: Pick<OtherRuns, "signal">,
  { child, key }: Question,
  answer: { readonly text: string | null; readonly key: string },
): Promise<void> {
  await runs.signal(child, toAnswerTopic(key), { key: answer.key, body: { text: answer.text } });
}
