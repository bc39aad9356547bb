/**
 * Asks the person at an MCP client for approval: by elicitation if the client can show a form, with a deadline. A
 * client that cannot show forms is not waited for: the call is denied with the reason. If the settings allow answers
 * from elsewhere (`approval_wait`), nothing is denied here because of silence: the approval has its own deadline.
 */

import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { type Clock, systemClock } from "../../base/clock.ts";
import { clip } from "../../base/text.ts";
import type { Answer, Ask, Denial, Question } from "../../tools/gate/ask.ts";
import { type Form, readForm, showsForms, toForm } from "./elicitation.ts";

/** The longest wait for the person at a client, who may not even see the form. */
export const DEADLINE_MS = 120_000;
/** The deadline is ours. The SDK also wants one, and a timer takes no more than this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface AskClientParts {
  /** The connection; undefined before it is open. */
  readonly server: () => Server | undefined;
  /**
   * True if the question can also be answered elsewhere. The form is then one more place to answer, and stays open as
   * long as the question.
   */
  readonly waitsElsewhere: boolean;
  readonly clock?: Clock | undefined;
}

export function createAskClient(parts: AskClientParts): Ask {
  const { server, waitsElsewhere, clock = systemClock } = parts;
  return async (question, signal) => {
    const client = server();
    const shows = client && showsForms(client.getClientCapabilities()?.elicitation);
    if (waitsElsewhere) {
      // A client that cannot show the form does not answer for the people elsewhere.
      const asked = shows ? ask(client, question, signal) : until(signal);
      return await asked.catch(() => until(signal));
    }
    if (shows) return await askInTime(client, question, { clock, signal });
    const reason =
      "No person can be asked: this MCP client shows no forms. Allow the call in the settings of the agent (--allow), or start the server with --approval-wait and answer with `offshoot runs approve`.";
    return { answer: "no", reason };
  };
}

/** Withdraws the form after the deadline, and denies the call. */
async function askInTime(
  client: Server,
  question: Question,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Answer | Denial> {
  const deadlineMs = Math.min(question.waitMs ?? DEADLINE_MS, DEADLINE_MS);
  const late = new AbortController();
  const answered = new AbortController();
  clock.sleep(deadlineMs, answered.signal).then(
    () => late.abort(),
    () => {},
  );
  try {
    return await ask(client, question, AbortSignal.any([signal, late.signal]));
  } catch (thrown) {
    signal.throwIfAborted();
    if (late.signal.aborted) {
      return { answer: "no", reason: `The client did not answer within ${deadlineMs / 1000} s.` };
    }
    const why = thrown instanceof Error ? clip(thrown.message, 120) : "no answer";
    return { answer: "no", reason: `The client did not answer the form: ${why}` };
  } finally {
    answered.abort();
  }
}

/** Shows the form until it is answered or the signal aborts. Rejects if the client cannot show it. */
async function ask(
  client: Server,
  question: Question,
  signal: AbortSignal,
): Promise<Answer | Denial> {
  const { requestedSchema, message } = toQuestionForm(question);
  const asked = { message, requestedSchema: { ...requestedSchema } };
  const limits = { signal, timeout: LONGEST_TIMER_MS };
  const { answer, reason } = readForm(await client.elicitInput(asked, limits));
  return reason === undefined ? answer : { answer: "no", reason };
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
