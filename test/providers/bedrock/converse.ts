/** Helpers that pass events to the decoder, and answers back to the encoder. */

import type { JsonObject } from "../../../src/base/json.ts";
import type { ContentPart } from "../../../src/protocol/content.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { encodeBody } from "../../../src/providers/bedrock/encode.ts";
import type { ConverseBody } from "../../../src/providers/bedrock/schema.ts";
import { bedrockWire } from "../../../src/providers/bedrock/wire.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { encodeFrame } from "../../../src/testing/bedrock/event-frames.ts";
import { request } from "../provider-contract.ts";

export const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
/** It runs searches by itself. */
export const NOVA = "us.amazon.nova-2-lite-v1:0";

/** The lines of a stream as the frames that carry them. */
export function toFrames(events: readonly JsonObject[]): Buffer {
  const frames = events.flatMap((event) =>
    Object.entries(event).map(([name, payload]) => {
      const kind = name.endsWith("Exception") ? "exception" : "event";
      return encodeFrame(name, JSON.stringify(payload), kind);
    }),
  );
  return Buffer.concat(frames);
}

/** Reads the body in pieces of that many bytes; in one piece by default. */
export function decodeFrames(
  body: Buffer,
  more: Partial<ModelRequest> = {},
  pieceBytes = body.length,
): ModelEvent[] {
  const events: ModelEvent[] = [];
  const decoder = bedrockWire.decoder(request(more), {});
  const reader = bedrockWire.createReader((data) => decoder.read(data, events));
  for (let from = 0; from < body.length; from += pieceBytes) {
    reader.push(body.subarray(from, from + pieceBytes));
  }
  reader.end();
  decoder.end(events);
  return events;
}

/** Reads an answer that was not streamed. */
export function decodeWhole(body: string, more: Partial<ModelRequest> = {}): ModelEvent[] {
  const events: ModelEvent[] = [];
  const decoder = bedrockWire.decoder(request(more), {});
  decoder.read(body, events);
  decoder.end(events);
  return events;
}

export function encode(more: Partial<ModelRequest> = {}): ConverseBody {
  return encodeBody(request({ instructions: undefined, ...more }));
}

export const READ = {
  type: "function" as const,
  name: "read",
  description: "Reads.",
  parameters: { type: "object", properties: { path: { type: "string" } } },
};

export const user = (content: string): Item => ({ type: "message", role: "user", content });
export const assistant = (text: string): Item => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
export const call = (call_id: string, text = "{}"): Item => ({
  type: "function_call",
  call_id,
  name: "read",
  arguments: text,
});
export const output = (call_id: string, given: string | ContentPart[]): Item => ({
  type: "function_call_output",
  call_id,
  output: given,
});

/** The blocks of a call and its result. */
export const use = (toolUseId: string, input: object = {}) => ({
  toolUse: { toolUseId, name: "read", input },
});
export const result = (toolUseId: string, text: string) => ({
  toolResult: { toolUseId, content: [{ text }] },
});

/** The blocks of these items in the next request. */
export function blocksOf(items: readonly Item[], model: string): readonly unknown[] {
  const { messages } = encode({ model, items: [user("Hi"), ...items], tools: [READ] });
  return messages[1]?.content ?? [];
}
