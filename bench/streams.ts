/**
 * The measured streams: made here in the form of the real ones, and recorded from real servers if
 * `OFFSHOOT_TEST_RECORDINGS` names a folder with recordings.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { tryParseJson } from "../src/base/json.ts";

/** One answer of a model, as the `data:` payloads of its events and as the body they make. */
export interface Stream {
  readonly payloads: readonly string[];
  /** The body, one frame for each event. */
  readonly frames: readonly Buffer[];
}

export type WireName = "chat" | "responses";

/** Pieces of text as models give them: a word or less, now and then not ASCII, a quote or a break. */
const WORDS = [
  "The",
  " reader",
  " takes",
  " each",
  " piece",
  ",",
  " as",
  " it",
  " comes",
  ".",
  "\n\n",
  "It",
  " never",
  " waits",
  " for",
  " the",
  ' "whole"',
  " answer",
  " –",
  " that",
  " is",
  " what",
  " makes",
  " a",
  " café",
  " feel",
  " quick",
  ":",
  " `code`",
  " runs",
  " while",
  " it",
  " is",
  " written",
];

/** The real API pads its events to hide their lengths, so that neighbours differ. */
const PADDING = "nL4tXqk2Zp9aRw";

/** An answer of `deltas` pieces of text. */
export function makeStream(wire: WireName, deltas: number): Stream {
  const words = Array.from({ length: deltas }, (_, at) => WORDS[at % WORDS.length] ?? "");
  return wire === "chat" ? makeChatStream(words) : makeResponsesStream(words);
}

/** Every recorded answer of the wire; empty if no folder of recordings is named. */
export function readRecordings(wire: WireName): Stream[] {
  const folder = process.env["OFFSHOOT_TEST_RECORDINGS"];
  if (folder === undefined) return [];
  const recordings = join(folder, "recordings", wire);
  return readdirSync(recordings)
    .filter((name) => name.endsWith(".jsonl") && !name.includes("error"))
    .map((name) => readFileSync(join(recordings, name), "utf8"))
    .map((text) => text.split("\n").filter((line) => line.trim() !== ""))
    .filter(isOrdinary)
    .map((lines) => toStream(wire, wire === "chat" ? [...lines, "[DONE]"] : lines));
}

/**
 * A picture in one event measures how fast a long text is scanned, and nothing about events; a payload that is not
 * JSON, as a broken server sent it, has no cost to compare with.
 */
function isOrdinary(payloads: readonly string[]): boolean {
  return payloads.every(
    (payload) => payload.length < 64 * 1024 && tryParseJson(payload) !== undefined,
  );
}

function makeChatStream(words: readonly string[]): Stream {
  const chunk = (choices: object[], usage: object | null, at = 0): string =>
    JSON.stringify({
      id: "chatcmpl-CqHk3vYpZ1nTz8sLw0bRrXy2eUoAd",
      object: "chat.completion.chunk",
      created: 1770000000,
      model: "gpt-5.1-2025-11-13",
      service_tier: "default",
      system_fingerprint: "fp_50906f2aac",
      choices,
      usage,
      obfuscation: PADDING.slice(at % PADDING.length),
    });
  const choice = (delta: object, finish_reason: string | null): object[] => [
    { index: 0, delta, logprobs: null, finish_reason },
  ];
  const usage = { prompt_tokens: 14, completion_tokens: words.length, total_tokens: 1 };
  return toStream("chat", [
    chunk(choice({ role: "assistant", content: "", refusal: null }, null), null),
    ...words.map((content, at) => chunk(choice({ content }, null), null, at)),
    chunk(choice({}, "stop"), null),
    chunk([], usage),
    "[DONE]",
  ]);
}

function makeResponsesStream(words: readonly string[]): Stream {
  const id = "msg_0c3f5a7be2d14860a9b7c6d5e4f30211";
  const text = words.join("");
  const place = { item_id: id, output_index: 0, content_index: 0 };
  const part = (whole: string) => ({
    type: "output_text",
    annotations: [],
    logprobs: [],
    text: whole,
  });
  const item = (status: string, content: object[]) => ({
    id,
    type: "message",
    status,
    content,
    role: "assistant",
  });
  const events = [
    { type: "response.created", response: makeResponse("in_progress", []) },
    { type: "response.in_progress", response: makeResponse("in_progress", []) },
    { type: "response.output_item.added", output_index: 0, item: item("in_progress", []) },
    { type: "response.content_part.added", ...place, part: part("") },
    ...words.map((delta, at) => ({
      type: "response.output_text.delta",
      ...place,
      delta,
      logprobs: [],
      obfuscation: PADDING.slice(at % PADDING.length),
    })),
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    { type: "response.content_part.done", ...place, part: part(text) },
    { type: "response.output_item.done", output_index: 0, item: item("completed", [part(text)]) },
    {
      type: "response.completed",
      response: makeResponse("completed", [item("completed", [part(text)])]),
    },
  ];
  const numbered = events.map(({ type, ...rest }, sequence_number) =>
    JSON.stringify({ type, sequence_number, ...rest }),
  );
  return toStream("responses", numbered);
}

function makeResponse(status: string, output: object[]): object {
  return {
    id: "resp_0c3f5a7be2d14860a9b7c6d5e4f30210",
    object: "response",
    created_at: 1770000000,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: "gpt-5.1-2025-11-13",
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: "none", summary: null },
    service_tier: "default",
    store: false,
    temperature: 1,
    text: { format: { type: "text" }, verbosity: "medium" },
    tool_choice: "auto",
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage: {
      input_tokens: 14,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1024,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1038,
    },
    user: null,
    metadata: {},
  };
}

/** The Responses API names each event in a line of its own, the chat API does not. */
function toStream(wire: WireName, payloads: readonly string[]): Stream {
  const frames = payloads.map((payload) => {
    const name = wire === "responses" ? `event: ${JSON.parse(payload).type}\n` : "";
    return Buffer.from(`${name}data: ${payload}\n\n`);
  });
  return { payloads, frames };
}
