/** Answers in the form of Ollama's documentation and client, and a helper to read one. */

import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { ollamaWire } from "../../../src/providers/ollama/wire.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { request } from "../provider-contract.ts";

const head = { model: "qwen3:8b", created_at: "2026-05-01T09:30:00.184789Z" };

/** One line: `message` is its delta. */
export const line = (message: object, more: object = {}): object => ({
  ...head,
  message: { role: "assistant", content: "", ...message },
  done: false,
  ...more,
});

/** The last line, with the counts. */
export const done = (more: object = {}): object => ({
  ...line({}),
  done: true,
  done_reason: "stop",
  total_duration: 4_883_583_458,
  load_duration: 1_334_875,
  prompt_eval_count: 26,
  prompt_eval_duration: 342_546_000,
  eval_count: 282,
  eval_duration: 4_535_599_000,
  ...more,
});

const call = (name: string, args: object, id?: string): object => ({
  ...(id ? { id } : {}),
  function: { name, arguments: args },
});

export const ANSWERS: Readonly<Record<string, readonly object[]>> = {
  text: [line({ content: "The" }), line({ content: " sky – über uns 🌤" }), done()],
  "thinking and text": [
    line({ thinking: "Okay, the user" }),
    line({ thinking: " wants…" }),
    line({ content: "Nine" }),
    line({ content: " blue." }),
    done(),
  ],
  "calls with ids after thinking": [
    line({ thinking: "Two cities." }),
    line({ tool_calls: [call("get_weather", { city: "Zürich", days: 2 }, "call_8k2j3h1x")] }),
    line({ tool_calls: [call("get_weather", { city: "Oslo" }, "call_p0w9z7qq")] }),
    done(),
  ],
  "two calls in one line, without ids": [
    line({ tool_calls: [call("read", { path: "a" }), call("read", { path: "b" })] }),
    done(),
  ],
  "text, a call, and text again": [
    line({ content: "Let me look." }),
    line({ tool_calls: [call("now", {})] }),
    line({ content: "Done." }),
    done(),
  ],
  "a structured answer": [line({ content: '{"age":' }), line({ content: " 22}" }), done()],
  "cut by the limit": [line({ content: "Once upon" }), done({ done_reason: "length" })],
  "all in the last line": [done({ message: { role: "assistant", content: "Whole." } })],
};

export function toBody(lines: readonly (object | string)[]): Buffer {
  const texts = lines.map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry)));
  return Buffer.from(texts.map((text) => `${text}\n`).join(""));
}

/** Reads the body in pieces of that many bytes; in one piece by default. */
export function decodeBody(
  body: Uint8Array,
  pieceBytes = body.length,
  asked: ModelRequest = request(),
): ModelEvent[] {
  const events: ModelEvent[] = [];
  const decoder = ollamaWire.decoder(asked, {});
  const reader = ollamaWire.createReader((data) => decoder.read(data, events));
  for (let from = 0; from < body.length; from += pieceBytes) {
    reader.push(body.subarray(from, from + pieceBytes));
  }
  reader.end();
  decoder.end(events);
  return events;
}
