/** A finished response as a `message`, and what its stream shares with it. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { EmittedItem, EmittedResponse } from "../../protocol/emitted.ts";
import type { OwnField } from "../fold/ignored.ts";
import { type AnswerBlock, answeredCalls, findContainer, toBlocks } from "./answer-blocks.ts";
import type { AppliedEdit } from "./context-edits.ts";
import { type MessageUsage, toMessageUsage } from "./message-usage.ts";
import type { MessagesAnswer } from "./parse-messages.ts";

/** The reasons that this server gives. It never pauses a turn: what a vendor pauses is gone on with here. */
type StopReason =
  | ("end_turn" | "tool_use" | "max_tokens" | "refusal")
  | ("stop_sequence" | "model_context_window_exceeded" | "compaction");

export interface MessageEnd {
  stop_reason: StopReason;
  stop_sequence: string | null;
  stop_details: { type: "refusal"; category: null; explanation: string | null } | null;
}

export interface Message {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: AnswerBlock[];
  stop_reason: MessageEnd["stop_reason"] | null;
  stop_sequence: string | null;
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
  const { stop_reason, stop_sequence, stop_details } = toEnd(response, answer);
  // One literal and no spreads: of plain answers this is most of what this API costs (bench/gateway.ts).
  const message: Message = {
    id,
    type,
    role,
    model,
    content: toBlocks(output, answer, createIds(answer.takenIds)),
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
  const own = id.startsWith("resp_") ? `msg_${id.slice("resp_".length)}` : id;
  return { id: own, type: "message", role: "assistant", model: name };
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
  if (!offshoot?.ignored && ignored.length === 0) return undefined;
  const told = (offshoot?.ignored ?? []).filter(
    (name) => !HINTS.has(name) && !/^include\b/.test(name),
  );
  const all = [...new Set([...told, ...ignored])];
  return all.length > 0 ? { ignored: all } : undefined;
}

/** Why an ended response ended. */
export function toEnd(response: EmittedResponse, answer: MessagesAnswer): MessageEnd {
  const { incomplete_details, output, offshoot } = response;
  const none = { stop_sequence: null, stop_details: null };
  if (incomplete_details?.reason === "content_filter" || output.some(isRefusal)) {
    const stop_details = { type: "refusal", category: null, explanation: null } as const;
    return { stop_reason: "refusal", stop_sequence: null, stop_details };
  }
  if (answer.isCompaction && output.some(({ type }) => type === "compaction")) {
    return { stop_reason: "compaction", ...none };
  }
  if (incomplete_details) {
    const isFull = fillsWindow(response, answer);
    return { stop_reason: isFull ? "model_context_window_exceeded" : "max_tokens", ...none };
  }
  if (hasOpenCall(output)) return { stop_reason: "tool_use", ...none };
  const stop = offshoot?.stop;
  if (stop?.reason !== "stop_sequence") return { stop_reason: "end_turn", ...none };
  // A vendor that does not say which one came up can have met no other.
  const only = answer.stops.length === 1 ? answer.stops[0] : undefined;
  const stop_sequence = stop.sequence ?? only ?? null;
  return { stop_reason: "stop_sequence", stop_sequence, stop_details: null };
}

function isRefusal(item: EmittedItem): boolean {
  return item.type === "message" && item.content.some(({ type }) => type === "refusal");
}

/** Whether a call waits for the client. */
function hasOpenCall(output: readonly EmittedItem[]): boolean {
  if (!output.some(({ type }) => type === "function_call")) return false;
  const answered = answeredCalls(output);
  return output.some((item) => item.type === "function_call" && !answered.has(item.call_id));
}

/**
 * Most vendors have one word for both limits; a window that is full is known by what was counted. Where tools of the
 * server have run, the count is of several model calls and says nothing.
 */
function fillsWindow(response: EmittedResponse, { contextTokens }: MessagesAnswer): boolean {
  const { offshoot, usage, output } = response;
  if (offshoot?.stop?.reason === "context_window") return true;
  if (contextTokens === undefined || !output.every(({ type }) => ONE_CALL.has(type))) return false;
  return (usage?.total_tokens ?? 0) >= contextTokens;
}

/** Items that one model call brings. */
const ONE_CALL: ReadonlySet<string> = new Set(["message", "reasoning", "function_call"]);

/** Ids of calls must differ over the whole conversation, and some servers count them anew in each answer. */
export function createIds(taken: ReadonlySet<string>): (callId: string) => string {
  const known = new Map<string, string>();
  let used: Set<string> | undefined;
  return (callId) => {
    const before = known.get(callId);
    if (before !== undefined) return before;
    used ??= new Set(taken);
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
