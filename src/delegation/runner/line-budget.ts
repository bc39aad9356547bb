/** How a run in a process of its own asks for more budget: a frame to its parent, answered by a line. */

import type { Limits } from "../../agent/limits.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ParentBudget } from "../parent-account.ts";
import { encodeAsk, parseAnswer } from "../top-up.ts";
import { createLineAsk, type ParentLine } from "./parent-line.ts";

/** `given` is what it has when it starts. */
export function openLineBudget(given: Limits, line: ParentLine): ParentBudget {
  const ask = createLineAsk(line, parseAnswer);
  let now = given;
  return {
    get given() {
      return now;
    },
    async ask(needs, signal) {
      const toFrame = (number: number): JsonObject => encodeAsk({ ask: number, ...needs });
      now = (await ask(toFrame, signal)).given;
    },
  };
}
