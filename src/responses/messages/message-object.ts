/** A finished response as a `message`, and what its stream shares with it. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { OwnField } from "../fold/ignored.ts";
import { type AnswerBlock, answeredCalls, findContainer, toBlocks } from "./answer-blocks.ts";
import type { AppliedEdit } from "./context-edits.ts";
import { type MessageUsage, toMessageUsage } from "./message-usage.ts";
import type { MessagesAnswer } from "./parse-messages.ts";

/** The reasons that this server gives. It never pauses a turn, and does not know which sequence stopped a model. */
type StopReason = "end_turn" | "tool_use" | "max_tokens" | "refusal";

export interface MessageEnd {
  stop_reason: StopReason;
  stop_sequence: null;
  stop_details: { type: "refusal"; category: null; explanation: string | null } | null;
}

export interface Message {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: AnswerBlock[];
  stop_reason: MessageEnd["stop_reason"] | null;
  stop_sequence: null;
  stop_details: MessageEnd["stop_details"];
  usage: MessageUsage;
  container: JsonObject | null;
  context_management: { applied_edits: readonly AppliedEdit[] } | null;
  /** This server's own: what of the request was left out. Not there where nothing was. */
  offshoot?: OwnField;
}

/** Rejects where there is no answer to give: the response failed, was cancelled or still runs. */
export function toMessage(response: EmittedResponse, answer: MessagesAnswer): Message {
  checkAnswered(response);
  const { output, usage } = response;
  const { id, type, role, model } = toMessageHead(response, answer);
  const { stop_reason, stop_sequence, stop_details } = toEnd(response);
  // One literal and no spreads: of plain answers this is most of what this API costs (bench/gateway.ts).
  const message: Message = {
    id,
    type,
    role,
    model,
    content: toBlocks(output, answer.thinking, createIds(answer.takenIds)),
    stop_reason,
    stop_sequence,
    stop_details,
    usage: toMessageUsage(usage, output),
    container: findContainer(output),
    context_management: toApplied(answer),
  };
  const own = toOwnField(response, answer);
  if (own) message.offshoot = own;
  return message;
}

export function toMessageHead(
  { id, model }: EmittedResponse,
  answer: MessagesAnswer,
): Pick<Message, "id" | "type" | "role" | "model"> {
  const name = answer.model ?? model;
  return { id: id.replace(/^resp_/, "msg_"), type: "message", role: "assistant", model: name };
}

export function toApplied({ applied }: MessagesAnswer): Message["context_management"] {
  return applied.length > 0 ? { applied_edits: applied } : null;
}

/** Wishes that the request did not name itself: leaving them out changes nothing that the client asked for. */
const HINTS: ReadonlySet<string> = new Set([
  ...["prompt_cache_breakpoint", "reasoning.effort", "reasoning.summary", "service_tier", "user"],
]);

export function toOwnField(
  { offshoot }: EmittedResponse,
  { ignored }: MessagesAnswer,
): OwnField | undefined {
  const told = (offshoot?.ignored ?? []).filter(
    (name) => !HINTS.has(name) && !/^include\b/.test(name),
  );
  const all = [...new Set([...told, ...ignored])];
  return all.length > 0 ? { ignored: all } : undefined;
}

/** Why an ended response ended. */
export function toEnd({ incomplete_details, output }: EmittedResponse): MessageEnd {
  const none = { stop_sequence: null, stop_details: null };
  const refusal = output.flatMap((item) =>
    item.type === "message"
      ? item.content.flatMap((part) => (part.type === "refusal" ? [part.refusal] : []))
      : [],
  );
  if (incomplete_details?.reason === "content_filter" || refusal.length > 0) {
    const stop_details = { type: "refusal", category: null, explanation: null } as const;
    return { stop_reason: "refusal", stop_sequence: null, stop_details };
  }
  if (incomplete_details) return { stop_reason: "max_tokens", ...none };
  const answered = answeredCalls(output);
  const waits = output.some((item) => item.type === "function_call" && !answered.has(item.call_id));
  return { stop_reason: waits ? "tool_use" : "end_turn", ...none };
}

/** Ids of calls must differ over the whole conversation, and some servers count them anew in each answer. */
export function createIds(taken: ReadonlySet<string>): (callId: string) => string {
  const known = new Map<string, string>();
  const used = new Set(taken);
  return (callId) => {
    const before = known.get(callId);
    if (before !== undefined) return before;
    let id = callId;
    for (let count = 2; used.has(id); count++) id = `${callId}_${count}`;
    used.add(id);
    known.set(callId, id);
    return id;
  };
}

export const CANCELLED = "The response was cancelled before it was complete.";

function checkAnswered({ status, error }: EmittedResponse): void {
  if (status === "completed" || status === "incomplete") return;
  if (status === "cancelled") throw new Failure("cancelled", CANCELLED);
  if (status !== "failed") throw new Failure("internal", "The response has not ended.");
  const code = error?.code === "rate_limit_exceeded" ? "provider_overloaded" : "provider_failed";
  const message = error?.message ?? "The response failed.";
  throw new Failure(code, message, { vendorCode: error?.code });
}
