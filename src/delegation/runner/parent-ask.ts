/** Asks a person through the parent's process, which has the terminal. */

import { toAbortFailure } from "../../base/async.ts";
import { type Ask, toDenial } from "../../tools/gate/ask.ts";
import { encodePersonAsk, parsePersonAnswer } from "../person-line.ts";
import { createLineAsk, type ParentLine } from "./parent-line.ts";

export function openParentAsk(line: ParentLine): Ask {
  const ask = createLineAsk(line, parsePersonAnswer);
  return async (question, signal) => {
    let number = 0;
    const toFrame = (own: number) => {
      number = own;
      return encodePersonAsk({ ask: own, question });
    };
    try {
      const { answer, reason } = await ask(toFrame, signal);
      return answer === "no" ? toDenial(reason) : answer;
    } catch (thrown) {
      // The parent removes the question from its terminal, and counts the child's time again.
      const withdrawn = signal.aborted ? toAbortFailure(signal).message : "It was taken back.";
      await line.send(encodePersonAsk({ ask: number, withdrawn }));
      throw thrown;
    }
  };
}
