/** The questions of one child in a process of its own to its parent, from its frames. */

import type { ChildAccount } from "../../agent/account.ts";
import type { Clock } from "../../base/clock.ts";
import type { OpenQuestions, QuestionFrame } from "../questions.ts";

export interface ChildQuestions {
  hear(frame: QuestionFrame): void;
  /** The process is gone: its questions are not open any more. */
  stop(): void;
  readonly isOpen: boolean;
  /** How long it has waited for its parent so far. */
  waitedMs(): number;
}

interface Parts {
  readonly clock: Clock;
  readonly questions?: OpenQuestions | undefined;
  readonly onQuestion?: (() => void) | undefined;
}

/** The child asks one thing at a time. */
export function createChildQuestions(
  child: string,
  account: Pick<ChildAccount, "pause">,
  { clock, questions, onQuestion }: Parts,
): ChildQuestions {
  let open: { readonly key: string; readonly sinceMs: number; close(): void } | undefined;
  let beforeMs = 0;

  function close(): void {
    if (!open) return;
    beforeMs += clock.now() - open.sinceMs;
    open.close();
    open = undefined;
  }

  return {
    hear({ key, text }) {
      if (text === null && open?.key !== key) return;
      close();
      if (text === null || !questions) return;
      // The child returns no budget, and needs no place, until it is answered.
      const resume = account.pause();
      const end = questions.open({ child, key, text });
      const both = (): void => {
        resume();
        end();
      };
      open = { key, sinceMs: clock.now(), close: both };
      onQuestion?.();
    },
    stop: close,
    get isOpen() {
      return open !== undefined;
    },
    waitedMs: () => beforeMs + (open ? clock.now() - open.sinceMs : 0),
  };
}
