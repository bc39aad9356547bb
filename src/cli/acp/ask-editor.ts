/** Approval questions by `session/request_permission`. What the editor cancels is a no. */

import { type AgentContext, methods, type PermissionOption } from "@agentclientprotocol/sdk";
import type { Answer, Ask } from "../../tools/gate/ask.ts";
import { tryJson } from "./prompt-items.ts";
import { toChange, toLocations, toTitle, toToolKind } from "./tool-views.ts";

const OPTIONS: readonly (PermissionOption & { readonly answer: Answer })[] = [
  { optionId: "once", name: "Allow", kind: "allow_once", answer: "yes" },
  { optionId: "always", name: "Allow always", kind: "allow_always", answer: "always" },
  { optionId: "no", name: "Reject", kind: "reject_once", answer: "no" },
];

interface AskEditorParts {
  readonly sessionId: string;
  readonly cwd: string;
  readonly client: () => AgentContext;
}

export function createAskEditor({ sessionId, cwd, client }: AskEditorParts): Ask {
  return async ({ id, tool, arguments: given, child, asksEveryTime }, signal) => {
    const offered = OPTIONS.filter(({ answer }) => answer !== "always" || !asksEveryTime);
    const title = `${child ? `${child.label}: ` : ""}${toTitle(tool, given)}`;
    const asked = client().request(methods.client.session.requestPermission, {
      sessionId,
      toolCall: {
        ...{
          toolCallId: id,
          title,
          kind: toToolKind(tool),
          status: "pending",
          rawInput: tryJson(given),
        },
        locations: toLocations(given, cwd),
        content: await toChange(tool, given, cwd),
      },
      options: offered.map(({ answer: _, ...option }) => option),
    });
    const { outcome } = await Promise.race([asked, untilAborted(signal)]);
    if (outcome.outcome === "cancelled") return "cancel";
    return OPTIONS.find(({ optionId }) => optionId === outcome.optionId)?.answer ?? "no";
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
