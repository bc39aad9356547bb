/** `ask_parent`: a subagent asks the run that started it, and waits for the answer up to a time limit. */

import type { Account } from "../../agent/account.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Tool } from "../../tools/tool.ts";
import { type OpenQuestions, toAnswerTopic } from "../questions.ts";
import { ASK_PARENT_SPEC, NO_TIMEOUT_MS } from "./specs.ts";

interface AskParts {
  readonly context: RunContext;
  readonly questions: OpenQuestions;
  readonly account: Pick<Account, "pause">;
  readonly timeoutMs: number;
}

export function createAskParentTool({ context, questions, account, timeoutMs }: AskParts): Tool {
  return {
    spec: ASK_PARENT_SPEC,
    // One question at a time.
    readOnly: false,
    effect: "delegate",
    timeoutMs: NO_TIMEOUT_MS,
    parse: readQuestion,
    async run(input, { idempotencyKey: key }) {
      const close = questions.open({ child: context.id, key, text: String(input) });
      const resume = account.pause();
      const wait = (): Promise<Json> => context.waitFor(toAnswerTopic(key), timeoutMs);
      try {
        // The parent continues meanwhile, in its own time.
        const answer = await context.uncounted(() => context.waiting(key, wait), { alone: true });
        if (answer === null) return `No answer came within ${timeoutMs / 1000} s. ${GO_ON}`;
        const text = isJsonObject(answer) ? answer["text"] : undefined;
        return typeof text === "string" ? text : `No answer will come. ${GO_ON}`;
      } finally {
        resume();
        close();
      }
    },
  };
}

const GO_ON = "Continue with what you know.";

function readQuestion(input: Json): string {
  const question = isJsonObject(input) ? input["question"] : undefined;
  if (typeof question === "string" && question.trim() !== "") return question;
  throw new Failure("invalid_request", "Invalid input: `question` must be a text");
}
