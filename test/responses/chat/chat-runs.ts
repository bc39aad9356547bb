/** Runs whose answers have everything that a chat answer can have, and their events as chat chunks. */

import type { EmittedEvent, EmittedLogprob } from "../../../src/protocol/emitted.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { RunEnd } from "../../../src/protocol/run-events.ts";
import type { CompletionChunk, CompletionDelta } from "../../../src/responses/chat/chat-chunk.ts";
import {
  type ChatWriterOptions,
  createChatWriter,
} from "../../../src/responses/chat/chat-writer.ts";
import { write } from "../fold/written-events.ts";
import {
  answerStart,
  functionCall,
  message,
  reasoning,
  runEnd,
  runStart,
  turn,
} from "../logged-run.ts";

export const call = { call_id: "call_1", name: "read" };
export const other = { call_id: "call_2", name: "find" };

export const citation = {
  type: "url_citation" as const,
  url: "https://x.org",
  title: "X",
  start_index: 0,
  end_index: 1,
};

const custom = { type: "custom_tool_call", call_id: "c", name: "sql", input: "" } as const;
const search: Item = {
  type: "web_search_call",
  id: "ws_1",
  status: "completed",
  action: { type: "search", query: "x" },
};

export function refusal(index: number, text: string): ModelEvent[] {
  const item: Item = { type: "message", role: "assistant", content: [] };
  return [
    { type: "item_start", index, item },
    { type: "refusal_delta", index, part: 0, delta: text },
    { type: "item_end", index, item: { ...item, content: [{ type: "refusal", refusal: text }] } },
  ];
}

export function thought(index: number, text: string): ModelEvent[] {
  const item: Item = { type: "reasoning", summary: [] };
  return [
    { type: "item_start", index, item },
    { type: "reasoning_delta", index, part: 0, kind: "text", delta: text },
    { type: "item_end", index, item: { ...item, content: [{ type: "reasoning_text", text }] } },
  ];
}

export function customCall(index: number, ...deltas: readonly string[]): ModelEvent[] {
  return [
    { type: "item_start", index, item: custom },
    ...deltas.map((delta): ModelEvent => ({ type: "arguments_delta", index, delta })),
    { type: "item_end", index, item: { ...custom, input: deltas.join("") } },
  ];
}

/** A search that the vendor makes, and a text that cites what it found. */
export function cited(index: number, text: string): ModelEvent[] {
  const [start, delta] = message(index + 1, text);
  const item: Item = {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text, annotations: [citation] }],
  };
  return [
    { type: "item_start", index, item: search },
    { type: "item_end", index, item: search },
    ...(start && delta ? [start, delta] : []),
    { type: "annotation", index: index + 1, part: 0, annotation: citation },
    { type: "item_end", index: index + 1, item },
  ];
}

/** Items of a vendor that gives its answer in one piece: begun empty, ended whole, nothing between. */
export function whole(...items: readonly Item[]): ModelEvent[] {
  return items.flatMap((item, index): ModelEvent[] => [
    { type: "item_start", index, item: { ...item, ...EMPTY[item.type] } as Item },
    { type: "item_end", index, item },
  ]);
}

const EMPTY: Readonly<Record<string, object>> = {
  message: { content: [] },
  reasoning: { summary: [], content: undefined },
  function_call: { arguments: "" },
  custom_tool_call: { input: "" },
};

export const ANSWERS: Readonly<Record<string, readonly ModelEvent[]>> = {
  "nothing at all": [],
  text: message(0, "Hel", "lo"),
  "two messages": [...message(0, "One. "), ...message(1, "Two.")],
  "a summary of thinking": [...reasoning(0, "Hm", "m"), ...message(1, "A")],
  "two pieces of thinking": [...thought(0, "Hm"), ...thought(1, "Ah"), ...message(2, "A")],
  "a refusal": refusal(0, "No."),
  "two calls": [...functionCall(0, call, "{", "}"), ...functionCall(1, other, "[", "]")],
  "text and a call": [...message(0, "Look."), ...functionCall(1, call, "{}")],
  "a call without arguments": functionCall(0, call),
  "a custom call": customCall(0, "sel", "ect"),
  "a search and citations": [...message(0, "Ah. "), ...cited(1, "X")],
  "an answer in one piece": whole(
    { type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
    {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "Whole.", annotations: [citation] }],
    },
    { type: "function_call", ...call, arguments: "{}" },
  ),
  "a refusal in one piece": whole(
    { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm" }] },
    { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
  ),
  "a custom call in one piece": whole({ ...custom, input: "select" }),
};

export function eventsOf(answer: readonly ModelEvent[], end: Partial<RunEnd> = {}): EmittedEvent[] {
  return write(runStart(), ...turn(1, answerStart, ...answer), runEnd(end));
}

export function framesOf(
  events: readonly EmittedEvent[],
  options: Partial<ChatWriterOptions> = {},
): string[] {
  const writer = createChatWriter({ model: "m", includeUsage: false, ...options });
  return events.flatMap((event) => writer.write(event));
}

export function chunksOf(
  events: readonly EmittedEvent[],
  options: Partial<ChatWriterOptions> = {},
): CompletionChunk[] {
  return framesOf(events, options).map((frame) => JSON.parse(frame) as CompletionChunk);
}

export function deltasOf(
  events: readonly EmittedEvent[],
  options: Partial<ChatWriterOptions> = {},
): CompletionDelta[] {
  return chunksOf(events, options).flatMap(({ choices }) => choices.map(({ delta }) => delta));
}

const likely = (token: string): EmittedLogprob => ({
  token,
  logprob: -0.5,
  bytes: [104],
  top_logprobs: [{ token, logprob: -0.5, bytes: [104] }],
});

/** "Hello" with probabilities: of the first half with the delta, of the second at the end. */
export function likelyEvents(): EmittedEvent[] {
  const both = [likely("Hel"), likely("lo")];
  return eventsOf(message(0, "Hel", "lo")).map((event): EmittedEvent => {
    if (event.type === "response.output_text.delta" && event.delta === "Hel") {
      return { ...event, logprobs: both.slice(0, 1) };
    }
    if (event.type === "response.output_text.done") return { ...event, logprobs: both };
    if (event.type !== "response.completed") return event;
    const output = event.response.output.map((item) =>
      item.type === "message"
        ? { ...item, content: item.content.map((part) => ({ ...part, logprobs: both })) }
        : item,
    );
    return { ...event, response: { ...event.response, output } } as EmittedEvent;
  });
}
