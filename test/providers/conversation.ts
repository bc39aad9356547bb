/** Short constructors of items, for tests of how a conversation is encoded on a wire. */

import type { Item } from "../../src/protocol/items.ts";

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

export const output = (call_id: string, text: string): Item => ({
  type: "function_call_output",
  call_id,
  output: text,
});

export const thought = (text: string): Item => ({
  type: "reasoning",
  summary: [],
  content: [{ type: "reasoning_text", text }],
});
