/** Events of the Messages API, written by hand. */

import type { JsonObject } from "../../../src/base/json.ts";

export const START = {
  type: "message_start",
  message: { id: "msg_1", model: "claude", content: [], usage: { input_tokens: 5 } },
};
export const STOP = { type: "message_stop" };
export const ended = (stop_reason: string, more: JsonObject = {}): JsonObject => ({
  type: "message_delta",
  delta: { stop_reason, ...more },
  usage: { output_tokens: 7 },
});
export const start = (index: number, content_block: JsonObject): JsonObject => ({
  type: "content_block_start",
  index,
  content_block,
});
export const delta = (index: number, piece: JsonObject): JsonObject => ({
  type: "content_block_delta",
  index,
  delta: piece,
});
export const stop = (index: number): JsonObject => ({ type: "content_block_stop", index });
export const text = (index: number, ...pieces: readonly string[]): JsonObject[] => [
  start(index, { type: "text", text: "" }),
  ...pieces.map((piece) => delta(index, { type: "text_delta", text: piece })),
  stop(index),
];
export const call = (index: number, id: string, ...pieces: readonly string[]): JsonObject[] => [
  start(index, { type: "tool_use", id, name: "read", input: {} }),
  ...pieces.map((piece) => delta(index, { type: "input_json_delta", partial_json: piece })),
  stop(index),
];
