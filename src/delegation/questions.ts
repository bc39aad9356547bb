/**
 * What children of this process ask their parents, while they wait for it. A question is open as long as
 * its call is being made, so nothing of it is kept: a child that is resumed asks again. The answer is a
 * message of the engine's, which waits for the child wherever it is.
 */

import type { OtherRuns } from "../engine/engine.ts";

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

export function createOpenQuestions(): OpenQuestions {
  const open = new Map<string, Question>();
  const listeners = new Map<string, (question: Question) => void>();
  return {
    of: (child) => open.get(child),
    open(question) {
      const { child } = question;
      open.set(child, question);
      listeners.get(child)?.(question);
      return () => {
        if (open.get(child) === question) open.delete(child);
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
