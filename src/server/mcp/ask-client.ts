/**
 * Approval questions to whoever uses an MCP client: by elicitation where the client can show a form, with a deadline.
 * A client that cannot is never waited for: the call is denied with the reason, unless the settings say that answers
 * from elsewhere are waited for (`approval_wait`).
 */

import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { clip } from "../../base/text.ts";
import type { Answer, Ask, Denial, Question } from "../../tools/gate/ask.ts";
import { type Form, readForm, toForm } from "./elicitation.ts";

/** Most time for a person at a client, who may not even see the form. */
export const DEADLINE_MS = 120_000;

interface AskClientParts {
  /** The connection, once it is there. */
  readonly server: () => Server | undefined;
  /** Whether somebody else may answer: then this only adds a place to do it. */
  readonly waitsElsewhere: boolean;
}

export function createAskClient({ server, waitsElsewhere }: AskClientParts): Ask {
  return async (question, signal) => {
    const client = server();
    if (client?.getClientCapabilities()?.elicitation) return await ask(client, question, signal);
    if (waitsElsewhere) return await until(signal);
    const reason =
      "Nobody can be asked: this MCP client shows no forms. Allow the call in the settings of the agent (--allow), or start the server with --approval-wait and answer with `offshoot runs approve`.";
    return { answer: "no", reason };
  };
}

async function ask(
  client: Server,
  question: Question,
  signal: AbortSignal,
): Promise<Answer | Denial> {
  const timeout = Math.min(question.waitMs ?? DEADLINE_MS, DEADLINE_MS);
  const { requestedSchema, message } = toQuestionForm(question);
  try {
    const asked = { message, requestedSchema: { ...requestedSchema } };
    const { answer, reason } = readForm(await client.elicitInput(asked, { signal, timeout }));
    return reason === undefined ? answer : { answer: "no", reason };
  } catch (thrown) {
    signal.throwIfAborted();
    const why = thrown instanceof Error ? clip(thrown.message, 120) : "no answer";
    return { answer: "no", reason: `The client did not answer in time (${why}).` };
  }
}

function toQuestionForm({ child, tool, arguments: given, ...question }: Question): Form {
  const who = child ? `The subagent ${clip(child.label, 80)} (${child.path})` : "The agent";
  const { reason, sandbox, asksEveryTime } = question;
  return toForm({ who, tool, given, reason, sandbox, mayBeAlways: !asksEveryTime });
}

function until(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
