/**
 * Shows approval questions as forms of an MCP client. Over HTTP the answer to a form is a request of its own, which
 * any process may get. So the form's id names the question, and the answer is left for the run like that of any other
 * person.
 */

import { asJsonObject, isJsonObject, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { createOpenToolQuestions, type OpenToolQuestions } from "../../protocol/open-questions.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { ToolQuestion } from "../../protocol/tool-question.ts";
import type { RemoteAnswer } from "../../runtime/approval-answers.ts";

const MAX_SHOWN_CHARS = 2000;

/** The choices of the person, and what each means. */
const CHOICES: Readonly<Record<string, RemoteAnswer>> = { once: "yes", always: "always", no: "no" };

/** True if a client with this capability shows forms. Some only open addresses; older ones do not say which. */
export function showsForms(elicitation: unknown): boolean {
  return isJsonObject(elicitation) && ("form" in elicitation || !("url" in elicitation));
}

export interface Form {
  readonly message: string;
  readonly requestedSchema: {
    readonly type: "object";
    readonly properties: {
      readonly decision: {
        readonly type: "string";
        readonly title: string;
        readonly enum: string[];
      };
    };
    readonly required: ["decision"];
  };
}

interface Shown {
  readonly who: string;
  readonly tool: string;
  readonly given: string;
  readonly reason: string;
  readonly sandbox: string;
  /** True if the answer can hold for similar calls too. */
  readonly mayBeAlways: boolean;
}

export function toForm({ who, tool, given, reason, sandbox, mayBeAlways }: Shown): Form {
  const all = Object.keys(CHOICES);
  const choices = mayBeAlways ? all : all.filter((choice) => choice !== "always");
  const message = `${who} wants to call ${tool}: ${clip(given, MAX_SHOWN_CHARS)}\nWhy it is asked: ${reason}\nSandbox: ${sandbox}`;
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: { decision: { type: "string", title: "Allow this call?", enum: choices } },
      required: ["decision"],
    },
  };
}

/** Everything except a clear yes is a no. */
export function readForm(result: unknown): {
  readonly answer: RemoteAnswer;
  readonly reason?: string;
} {
  const { action, content } = isJsonObject(result) ? result : {};
  if (typeof action !== "string") {
    return { answer: "no", reason: "The client could not show the form." };
  }
  if (action !== "accept") {
    return { answer: "no", reason: `The person at the client chose: ${clip(action, 40)}.` };
  }
  const decision = isJsonObject(content) ? String(content["decision"]) : "";
  return { answer: (Object.hasOwn(CHOICES, decision) ? CHOICES[decision] : undefined) ?? "no" };
}

export interface QuestionPlace {
  readonly run: string;
  readonly question: string;
}

const PREFIX = "approve:";

export function toFormId({ run, question }: QuestionPlace): string {
  return PREFIX + Buffer.from(JSON.stringify([run, question])).toString("base64url");
}

/** Undefined for an id that does not name a question. */
export function readFormId(id: unknown): QuestionPlace | undefined {
  if (typeof id !== "string" || !id.startsWith(PREFIX)) return undefined;
  try {
    const read: unknown = JSON.parse(Buffer.from(id.slice(PREFIX.length), "base64url").toString());
    const [run, question] = Array.isArray(read) ? read : [];
    return typeof run === "string" && typeof question === "string" ? { run, question } : undefined;
  } catch {
    return undefined;
  }
}

interface FormSender {
  /** Sends a message of ours to the waiting client. */
  send(message: JsonObject & { readonly jsonrpc: "2.0" }): Promise<void>;
  /**
   * True if the question still waits. A log that is read from its beginning has answered ones too.
   */
  isOpen(place: QuestionPlace): Promise<boolean>;
}

/**
 * Watches the logs of a tree: each open question is shown once, and withdrawn when it has been answered.
 */
export function createFormShower({
  send,
  isOpen,
}: FormSender): (batch: readonly LoggedEvent[]) => void {
  /** Questions that were looked at, and whether the form of each was sent. */
  const seen = new Map<string, boolean>();
  const open = new Map<string, OpenToolQuestions>();
  const show = async (run: string, question: ToolQuestion): Promise<void> => {
    const place = { run, question: question.question };
    const id = toFormId(place);
    if (seen.has(id)) return;
    seen.set(id, false);
    if (!(await isOpen(place))) return;
    seen.set(id, true);
    const params = asJsonObject(toQuestionForm(question));
    await send({ jsonrpc: "2.0", id, method: "elicitation/create", params });
  };
  const withdraw = async (run: string, question: string): Promise<void> => {
    const requestId = toFormId({ run, question });
    if (!seen.get(requestId)) return;
    const params = { requestId, reason: "It was answered." };
    await send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  };
  return (batch) => {
    for (const { run_id, event } of batch) {
      const questions = open.get(run_id) ?? createOpenToolQuestions();
      open.set(run_id, questions);
      questions.read(event);
      if (event.type === "tool_decision" && event.question !== undefined) {
        // A client that has gone shows nothing. The question waits for other clients until its time is over.
        void withdraw(run_id, event.question).catch(() => {});
      }
    }
    for (const [run, questions] of open) {
      for (const question of questions.open) void show(run, question).catch(() => {});
    }
  };
}

function toQuestionForm({
  asker,
  name,
  arguments: given,
  reason,
  sandbox,
  always,
}: ToolQuestion): Form {
  const who = asker ? `The subagent ${clip(asker.label, 80)} (${asker.path})` : "The agent";
  return toForm({ who, tool: name, given, reason, sandbox, mayBeAlways: always.length > 0 });
}
