/**
 * Asks for approval by `session/request_permission`. If the editor cancels the question, the run ends. A question
 * that it cannot show is denied.
 */

import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
} from "@agentclientprotocol/sdk";
import { untilAborted } from "../../base/async.ts";
import type { Answer, Ask, Question } from "../../tools/gate/ask.ts";
import { tryJson } from "./prompt-items.ts";
import { type ReadFile, toChange, toLocations, toTitle, toToolKind } from "./tool-views.ts";

const OPTIONS: readonly (PermissionOption & { readonly answer: Answer })[] = [
  { optionId: "once", name: "Allow", kind: "allow_once", answer: "yes" },
  { optionId: "always", name: "Allow always", kind: "allow_always", answer: "always" },
  { optionId: "no", name: "Reject", kind: "reject_once", answer: "no" },
];

export interface AskEditorParts {
  readonly sessionId: string;
  readonly cwd: string;
  readonly client: AgentContext;
  readonly readFile: ReadFile;
  /** The id under which the editor knows the call. */
  readonly callOf: (question: Question) => Promise<string>;
}

export function createAskEditor(parts: AskEditorParts): Ask {
  const { sessionId, cwd, client, readFile } = parts;
  return async (question, signal) => {
    const { tool: name, arguments: given, child, asksEveryTime } = question;
    const offered = OPTIONS.filter(({ answer }) => answer !== "always" || !asksEveryTime);
    const title = `${child ? `${child.label}: ` : ""}${toTitle(name, given)}`;
    const toolCallId = await untilAborted(parts.callOf(question), signal);
    const toolCall = {
      toolCallId,
      title,
      name,
      kind: toToolKind(name, given),
      status: "pending" as const,
      rawInput: tryJson(given),
      locations: toLocations(given, cwd),
      content: await toChange({ name, arguments: given }, cwd, readFile),
    };
    const options = offered.map(({ answer: _, ...option }) => option);
    const request: RequestPermissionRequest = { sessionId, toolCall, options };
    const asked = client.request(methods.client.session.requestPermission, request, {
      cancellationSignal: signal,
    });
    const { outcome } = await untilAborted(asked, signal);
    if (outcome.outcome === "cancelled") return "cancel";
    // A choice that was not offered is not an answer: an editor may know the other choices from earlier questions.
    return offered.find(({ optionId }) => optionId === outcome.optionId)?.answer ?? "no";
  };
}
