/** The questions in a log that have no answer yet: the one rule for every reader of a log. Pure. */

import type { RunEvent } from "./run-events.ts";
import type { ToolQuestion } from "./tool-question.ts";

export interface OpenToolQuestions {
  /** Call it with each event of one run's log, in order. */
  read(event: RunEvent): void;
  /** Open questions, in the order they were asked. */
  readonly open: readonly ToolQuestion[];
}

export function createOpenToolQuestions(): OpenToolQuestions {
  let open: readonly ToolQuestion[] = NONE;
  return {
    get open() {
      return open;
    },
    read(event) {
      if (event.type === "tool_question") {
        open = [...open, event];
      } else if (event.type === "tool_decision" && open.length > 0) {
        open = open.filter(({ question }) => question !== event.question);
      } else if (event.type === "run_resume" || event.type === "run_end") {
        // The process that asked is gone; the next owner of the run asks again.
        open = NONE;
      }
    },
  };
}

const NONE: readonly ToolQuestion[] = [];
