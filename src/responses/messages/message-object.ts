/** Turns a finished response into a `message`, with the parts that its stream shares. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { EmittedItem, EmittedResponse } from "../../protocol/emitted.ts";
import type { OwnField } from "../fold/ignored.ts";
import { type AnswerBlock, answeredCalls, findContainer, toBlocks } from "./answer-blocks.ts";
import type { AppliedEdit } from "./context-edits.ts";
import { type MessageUsage, toMessageUsage } from "./message-usage.ts";
import type { MessagesAnswerOptions } from "./messages-wishes.ts";

/**
 * The stop reasons of this server. It never pauses a turn: a turn that a vendor pauses is continued here.
 */
type StopReason =
  | ("end_turn" | "tool_use" | "max_tokens" | "refusal")
  | ("stop_sequence" | "model_context_window_exceeded" | "compaction");

export interface MessageEnd {
  stop_reason: StopReason;
  stop_sequence: string | null;
  stop_details: { type: "refusal"; category: null; explanation: string | null } | null;
}

export interface MessageObject {
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
  /** A field of this server: which fields of the request were left out. Absent if none was. */
  offshoot?: OwnField;
}

/** Rejects if the response has no answer: it failed, was cancelled or still runs. */
export function toMessage(
  response: EmittedResponse,
  answer: MessagesAnswerOptions,
  estimate?: () => number,
): MessageObject {
  checkAnswered(response);
  const { output, usage } = response;
  const { id, type, role, model } = toMessageHead(response, answer);
  const { stop_reason, stop_sequence, stop_details } = toEnd(response, answer);
  // One literal and no spreads: for plain answers this is most of this API's cost (bench/gateway.ts).
  const message: MessageObject = {
    id,
    type,
    role,
    model,
    content: toBlocks(output, answer, createIds(answer.takenIds)),
    stop_reason,
    stop_sequence,
    stop_details,
    usage: toMessageUsage(usage, output, estimate),
    container: findContainer(output),
    context_management: toApplied(answer),
  };
  const own = toOwnField(response, answer);
  if (own) message.offshoot = own;
  return message;
}

/** What a stream begins with. */
export function toOpenMessage(
  response: EmittedResponse,
  answer: MessagesAnswerOptions,
  usage: object,
): object {
  const { id, type, role, model } = toMessageHead(response, answer);
  const ended = { stop_reason: null, stop_sequence: null, stop_details: null };
  return {
    id,
    type,
    role,
    model,
    content: [],
    usage,
    container: null,
    context_management: null,
    ...ended,
  };
}

function toMessageHead(
  { id, model }: EmittedResponse,
  answer: MessagesAnswerOptions,
): Pick<MessageObject, "id" | "type" | "role" | "model"> {
  const name = answer.model ?? model;
  const own = id.startsWith("resp_") ? `msg_${id.slice("resp_".length)}` : id;
  return { id: own, type: "message", role: "assistant", model: name };
}

export function toApplied({ applied }: MessagesAnswerOptions): MessageObject["context_management"] {
  return applied.length > 0 ? { applied_edits: applied } : null;
}

/**
 * Parameters that the request did not name itself: leaving them out changes nothing that the client asked for.
 */
const HINTS: ReadonlySet<string> = new Set([
  ...["prompt_cache_breakpoint", "reasoning.effort", "reasoning.summary", "service_tier", "user"],
]);

export function toOwnField(
  { offshoot }: EmittedResponse,
  { ignored }: MessagesAnswerOptions,
): OwnField | undefined {
  if (!offshoot?.ignored && ignored.length === 0) return undefined;
  const told = (offshoot?.ignored ?? []).filter(
    (name) => !HINTS.has(name) && !/^include\b/.test(name),
  );
  const all = [...new Set([...told, ...ignored])];
  return all.length > 0 ? { ignored: all } : undefined;
}

/** The reason why an ended response ended. */
export function toEnd(response: EmittedResponse, answer: MessagesAnswerOptions): MessageEnd {
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
  // A vendor that does not say which stop sequence occurred can only have met this one.
  const only = answer.stops.length === 1 ? answer.stops[0] : undefined;
  const stop_sequence = stop.sequence ?? only ?? null;
  return { stop_reason: "stop_sequence", stop_sequence, stop_details: null };
}

function isRefusal(item: EmittedItem): boolean {
  return item.type === "message" && item.content.some(({ type }) => type === "refusal");
}

/** True if a call waits for the client. */
function hasOpenCall(output: readonly EmittedItem[]): boolean {
  if (!output.some(({ type }) => type === "function_call")) return false;
  const answered = answeredCalls(output);
  return output.some((item) => item.type === "function_call" && !answered.has(item.call_id));
}

/**
 * Most vendors have one word for both limits; a full window is recognised by the number of tokens. If tools of the
 * server have run, that number covers several model calls and says nothing.
 */
function fillsWindow(response: EmittedResponse, { contextTokens }: MessagesAnswerOptions): boolean {
  const { offshoot, usage, output } = response;
  if (offshoot?.stop?.reason === "context_window") return true;
  if (contextTokens === undefined || !output.every(({ type }) => ONE_CALL.has(type))) return false;
  return (usage?.total_tokens ?? 0) >= contextTokens;
}

/** Items that can come from a single model call. */
const ONE_CALL: ReadonlySet<string> = new Set(["message", "reasoning", "function_call"]);

/**
 * Ids of calls must differ over the whole conversation, and some servers count them from the beginning in each
 * answer.
 */
export function createIds(taken: ReadonlySet<string>): (callId: string) => string {
  // Made by the first call: most answers have none.
  let known: Map<string, string> | undefined;
  let used: Set<string> | undefined;
  return (callId) => {
    const before = known?.get(callId);
    if (before !== undefined) return before;
    known ??= new Map();
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
