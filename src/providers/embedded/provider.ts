/**
 * The model `embedded/offline`: it answers without a key and without a network, and says what it cannot do.
 *
 * It is a provider like any other: it writes text or calls tools, and the loop runs the tools.
 * `interpret.ts` decides the reply at once; here it is streamed piece by piece.
 */

import { Failure } from "../../base/failure.ts";
import { type MakeId, makeId as processId } from "../../base/ids.ts";
import type { FunctionCall, Message, Reasoning } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { omittedMarks, partsOf } from "../cache-marks.ts";
import { keepOptions, omittedOfFormat } from "../known-options.ts";
import {
  type ModelCall,
  type ModelOptions,
  type ModelRequest,
  type Provider,
  toParameter,
} from "../provider.ts";
import { isUnseen } from "./attachments.ts";
import type { ToolRequest } from "./intents/intent.ts";
import { interpret, type Stance } from "./interpret.ts";
import type { EmbeddedReply } from "./reply.ts";

const EMBEDDED_MODEL = "offline";

/** The most pieces of one text: a long file is streamed in larger pieces, not in more of them. */
const MAX_PIECES = 400;
const PIECES_PER_BATCH = 4;

export interface EmbeddedOptions extends Stance {
  readonly makeId?: MakeId;
}

export function createEmbeddedProvider(options: EmbeddedOptions = {}): Provider {
  const { makeId = processId } = options;

  async function* stream(
    request: ModelRequest,
    { signal, notice }: ModelCall,
  ): AsyncGenerator<readonly ModelEvent[], void> {
    throwIfAborted(signal);
    const params = ignoredIn(request);
    if (params.length > 0) {
      const names = params.map((name) => `\`${name}\``).join(", ");
      const message = `Without effect on the embedded model: ${names}.`;
      notice?.({ code: "dropped", message, params });
    }
    for (const batch of toBatches(interpret(request, options), makeId)) {
      yield batch;
      throwIfAborted(signal);
    }
  }

  return { name: "embedded", stream, omits: toOmitted };
}

function toOmitted(options: ModelOptions): readonly string[] {
  return Object.keys(options).map((name) => toParameter(name as keyof ModelOptions));
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) {
    throw new Failure("cancelled", "The run was cancelled.", { cause: signal.reason });
  }
}

function* toBatches(reply: EmbeddedReply, makeId: MakeId): Generator<ModelEvent[]> {
  const { reasoning, text, refusal, calls, reason, usage } = reply;
  let index = 0;
  yield [{ type: "start", response_id: makeId("resp"), model: EMBEDDED_MODEL }];
  if (reasoning !== undefined) yield* reasoningBatches(reasoning, index++, makeId("rs"));
  if (text !== undefined) yield* messageBatches(reply, index++, makeId("msg"));
  if (refusal !== undefined) yield* refusalBatches(refusal, index++, makeId("msg"));
  for (const call of calls) yield callBatch(call, index++, makeId);
  yield [{ type: "end", reason, usage, continuation: undefined }];
}

function* reasoningBatches(text: string, index: number, id: string): Generator<ModelEvent[]> {
  const empty: Reasoning = { type: "reasoning", id, summary: [] };
  yield [{ type: "item_start", index, item: empty }];
  yield* inBatches(text, (delta) => ({
    type: "reasoning_delta",
    index,
    part: 0,
    kind: "summary",
    delta,
  }));
  yield [
    { type: "item_end", index, item: { ...empty, summary: [{ type: "summary_text", text }] } },
  ];
}

function* messageBatches(
  { text = "", reason }: EmbeddedReply,
  index: number,
  id: string,
): Generator<ModelEvent[]> {
  const empty = emptyMessage(id);
  yield [{ type: "item_start", index, item: empty }];
  yield* inBatches(text, (delta) => ({ type: "text_delta", index, part: 0, delta }));
  const status = reason === "length" ? "incomplete" : "completed";
  const content: Message["content"] = [{ type: "output_text", text, annotations: [] }];
  yield [{ type: "item_end", index, item: { ...empty, status, content } }];
}

function* refusalBatches(refusal: string, index: number, id: string): Generator<ModelEvent[]> {
  const empty = emptyMessage(id);
  yield [{ type: "item_start", index, item: empty }];
  yield* inBatches(refusal, (delta) => ({ type: "refusal_delta", index, part: 0, delta }));
  const content: Message["content"] = [{ type: "refusal", refusal }];
  yield [{ type: "item_end", index, item: { ...empty, status: "completed", content } }];
}

function emptyMessage(id: string): Message {
  return { type: "message", id, role: "assistant", status: "in_progress", content: [] };
}

function callBatch(call: ToolRequest, index: number, makeId: MakeId): ModelEvent[] {
  const text = JSON.stringify(call.arguments);
  const empty: FunctionCall = {
    type: "function_call",
    id: makeId("fc"),
    call_id: makeId("call"),
    name: call.name,
    arguments: "",
    status: "in_progress",
  };
  const deltas = toPieces(text).map(
    (delta): ModelEvent => ({ type: "arguments_delta", index, delta }),
  );
  const whole: FunctionCall = { ...empty, arguments: text, status: "completed" };
  return [
    { type: "item_start", index, item: empty },
    ...deltas,
    { type: "item_end", index, item: whole },
  ];
}

function* inBatches(text: string, toEvent: (delta: string) => ModelEvent): Generator<ModelEvent[]> {
  const pieces = toPieces(text);
  for (let at = 0; at < pieces.length; at += PIECES_PER_BATCH) {
    yield pieces.slice(at, at + PIECES_PER_BATCH).map(toEvent);
  }
}

/** Splits a text into words, each with the space before it, joined to pieces of about the same length. */
function toPieces(text: string): string[] {
  const least = text.length / MAX_PIECES;
  const pieces: string[] = [];
  let piece = "";
  for (const [word] of text.matchAll(/\s*\S+\s*$|\s*\S+|\s+/g)) {
    piece += word;
    if (piece.length < least) continue;
    pieces.push(piece);
    piece = "";
  }
  return piece === "" ? pieces : [...pieces, piece];
}

/**
 * The parameters of a request that the embedded model ignores, as requests spell them.
 *
 * The same text always gets the same answer: options for sampling or billing have no effect.
 */
function ignoredIn(request: ModelRequest): string[] {
  const { temperature, top_p, items } = request;
  const unseen = items.flatMap(partsOf).filter(isUnseen);
  return [
    ...(temperature === undefined ? [] : ["temperature"]),
    ...(top_p === undefined ? [] : ["top_p"]),
    ...keepOptions(request, () => false).dropped,
    ...omittedOfFormat(request),
    ...Object.keys({ ...request.extras, ...request.own }),
    ...new Set(unseen.map(({ type }) => type)),
    ...omittedMarks(request),
  ];
}
