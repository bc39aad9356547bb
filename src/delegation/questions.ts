/**
 * Questions that children ask their parents, and wait for. A question is open as long as its call is being made, so it
 * is not stored: a child that is resumed asks again. The answer is a message of the engine, which waits for the child
 * in the record, wherever the child is.
 *
 * A child in a process of its own sends a frame on its standard output to its parent's process when a question opens,
 * and when it closes.
 */

import type { JsonObject } from "../base/json.ts";
import type { OtherRuns } from "../engine/engine.ts";

/** The name of the frame. */
export const QUESTION = "subagent_question";

export interface ChildQuestion {
  /** The id of the run that asks. */
  readonly child: string;
  /** The idempotency key of its call. */
  readonly key: string;
  readonly text: string;
}

export interface OpenQuestions {
  of(child: string): ChildQuestion | undefined;
  /** Opens a question. Call the returned function when it is answered. */
  open(question: ChildQuestion): () => void;
  /** Calls `listener` for each question of the child, also for one that is open. Returns a function that ends this. */
  listen(child: string, listener: (question: ChildQuestion) => void): () => void;
}

/** Called with each question when it opens, and with null for its text when it closes. */
export type TellQuestion = (question: Omit<ChildQuestion, "text"> & QuestionText) => void;

interface QuestionText {
  readonly text: string | null;
}

export function createOpenQuestions(tell: TellQuestion = () => {}): OpenQuestions {
  const open = new Map<string, ChildQuestion>();
  const listeners = new Map<string, (question: ChildQuestion) => void>();
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

/** The frame with which a child in a process of its own sends its question. */
export type QuestionFrame = Pick<ChildQuestion, "key"> & QuestionText;

export function encodeQuestion({ key, text }: QuestionFrame): JsonObject {
  return { type: QUESTION, key, text };
}

/** Undefined for a frame that is not a question. */
export function parseQuestion({ key, text }: JsonObject): QuestionFrame | undefined {
  if (typeof key !== "string" || (typeof text !== "string" && text !== null)) return undefined;
  return { key, text };
}

/** One topic for each question: an answer that comes too late is not taken as that of the next one. */
export function toAnswerTopic(key: string): string {
  return `answer:${key.slice(key.lastIndexOf("/") + 1)}`;
}

/** Leaves the answer; null for no answer. The same key again is the same answer. */
export async function sendAnswer(
  runs: Pick<OtherRuns, "signal">,
  { child, key }: ChildQuestion,
  answer: { readonly text: string | null; readonly key: string },
): Promise<void> {
  await runs.signal(child, toAnswerTopic(key), { key: answer.key, body: { text: answer.text } });
}
