/**
 * A scripted answer as model events, one batch for each delta, in the order that `model-events.ts` promises. An answer
 * that fails or hangs leaves its last item open, as a broken stream does.
 */

import { Failure } from "../base/failure.ts";
import type { MakeId } from "../base/ids.ts";
import type { UrlCitation } from "../protocol/content.ts";
import type { Item } from "../protocol/items.ts";
import type { ModelEvent } from "../protocol/model-events.ts";
import { toUsage, type Usage } from "../protocol/usage.ts";
import type { ModelRequest } from "../providers/provider.ts";
import type { AnswerReply, ReplyPart } from "./reply.ts";

/** About as many characters as a token has; the counts mean nothing, but are always the same. */
const CHARACTERS_PER_TOKEN = 4;

interface Call {
  readonly signal: AbortSignal;
  readonly makeId: MakeId;
}

export async function* replyEvents(
  reply: AnswerReply,
  request: ModelRequest,
  { signal, makeId }: Call,
): AsyncGenerator<readonly ModelEvent[], void> {
  const start = { type: "start", response_id: makeId("resp"), model: request.model } as const;
  yield* inBatches([start], signal);
  for (const [index, part] of reply.parts.entries()) {
    const isLast = index === reply.parts.length - 1;
    const events = partEvents(part, { index, makeId, reply });
    const isOpen = isLast && (reply.ending === "fail" || reply.ending === "hang");
    yield* inBatches(isOpen ? events.slice(0, -1) : events, signal);
  }
  if (reply.ending === "fail") throw new Failure("provider_failed", reply.message);
  if (reply.ending === "hang") return await untilCancelled(signal);
  const usage = countUsage(reply, request);
  yield* inBatches([{ type: "end", reason: reply.ending, usage, continuation: undefined }], signal);
}

/** Ids in the order they are asked for: `call_1`, `call_2`, `msg_1`. Equal scripts give equal ids. */
export function createCountingIds(): MakeId {
  const counts = new Map<string, number>();
  return (prefix) => {
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    return `${prefix}_${count}`;
  };
}

async function* inBatches(
  events: readonly ModelEvent[],
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[], void> {
  for (const event of events) {
    throwIfCancelled(signal);
    yield [event];
  }
}

function throwIfCancelled(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new Failure("cancelled", "The model call was cancelled.", { cause: signal.reason });
}

async function untilCancelled(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
  throwIfCancelled(signal);
}

interface Place {
  readonly index: number;
  readonly makeId: MakeId;
  readonly reply: AnswerReply;
}

function partEvents(part: ReplyPart, place: Place): ModelEvent[] {
  const { index, reply } = place;
  const [first, last] = openAndWhole(part, place);
  const text = part.type === "call" ? part.arguments : part.text;
  const deltas = toPieces(text, reply.pieceLength).map((delta) => deltaEvent(part, index, delta));
  return [
    { type: "item_start", index, item: first },
    ...deltas,
    ...citationsOf(part).map((annotation): ModelEvent => {
      return { type: "annotation", index, part: 0, annotation };
    }),
    { type: "item_end", index, item: last },
  ];
}

function citationsOf(part: ReplyPart): UrlCitation[] {
  if (part.type !== "text") return [];
  const span = { start_index: 0, end_index: part.text.length };
  return (part.cites ?? []).map((page) => ({ type: "url_citation", ...page, ...span }));
}

/** The item as it starts and as it ends. */
function openAndWhole(part: ReplyPart, { makeId, reply }: Place): [Item, Item] {
  if (part.type === "reasoning") {
    const id = makeId("rs");
    return [
      { type: "reasoning", id, summary: [] },
      { type: "reasoning", id, summary: [{ type: "summary_text", text: part.text }] },
    ];
  }
  if (part.type === "call") {
    const { name } = part;
    const call = {
      type: "function_call",
      id: makeId("fc"),
      call_id: part.call_id ?? makeId("call"),
      name,
    } as const;
    return [
      { ...call, arguments: "", status: "in_progress" },
      { ...call, arguments: part.arguments, status: "completed" },
    ];
  }
  if (part.type === "search") {
    const { query, pages } = part;
    const sources = pages.map(({ url }) => ({ type: "url", url }));
    const call = { type: "web_search_call", id: makeId("ws") } as const;
    const action = { type: "search" as const, query, queries: [query], sources };
    const results = pages.map((page) => ({ ...page }));
    return [
      { ...call, status: "in_progress" },
      { ...call, status: "completed", action, results } as Item,
    ];
  }
  if (part.type === "picture") {
    const call = { type: "image_generation_call", id: makeId("ig") } as const;
    return [
      { ...call, status: "in_progress", result: null },
      { ...call, status: "completed", result: part.data },
    ];
  }
  const message = { type: "message", id: makeId("msg"), role: "assistant" } as const;
  const content =
    part.type === "refusal"
      ? ({ type: "refusal", refusal: part.text } as const)
      : ({
          type: "output_text",
          text: part.text,
          annotations: citationsOf(part),
          logprobs: [],
        } as const);
  const status = reply.ending === "length" ? "incomplete" : "completed";
  return [
    { ...message, status: "in_progress", content: [] },
    { ...message, status, content: [{ ...content }] } as Item,
  ];
}

function deltaEvent(part: ReplyPart, index: number, delta: string): ModelEvent {
  switch (part.type) {
    case "text":
    case "search":
    case "picture":
      return { type: "text_delta", index, part: 0, delta };
    case "refusal":
      return { type: "refusal_delta", index, part: 0, delta };
    case "reasoning":
      return { type: "reasoning_delta", index, part: 0, kind: "summary", delta };
    case "call":
      return { type: "arguments_delta", index, delta };
  }
}

/** Cuts between characters, never inside one. */
function toPieces(text: string, length: number): string[] {
  // A text that is sent whole is not split: it may be many megabytes.
  if (text.length <= length) return text === "" ? [] : [text];
  const characters = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += length) {
    pieces.push(characters.slice(at, at + length).join(""));
  }
  return pieces;
}

function countUsage(reply: AnswerReply, request: ModelRequest): Usage {
  const said = (type: ReplyPart["type"] | "all"): number => {
    const parts = reply.parts.filter((part) => type === "all" || part.type === type);
    const texts = parts.map((part) => (part.type === "call" ? part.arguments : part.text));
    return toTokens(texts.join(""));
  };
  return toUsage({
    input: toTokens(JSON.stringify([request.instructions ?? "", request.items, request.tools])),
    output: said("all"),
    reasoning: said("reasoning"),
    nativeCalls: { web_search: reply.parts.filter(({ type }) => type === "search").length },
    ...reply.usage,
  });
}

function toTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
