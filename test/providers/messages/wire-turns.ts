/** Items of a conversation and their turns in the Messages API. */

import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { seal } from "../../../src/protocol/sealed-reasoning.ts";
import { encodeRequest } from "../../../src/providers/messages/encode.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import type { Quirks } from "../../../src/providers/wire.ts";
import { request } from "../provider-contract.ts";

/** Without cache marks, which have tests of their own. */
const PLAIN: Quirks = { refuses: ["cache_control"] };

export const encode = (more: Partial<ModelRequest> = {}, quirks = PLAIN): JsonObject =>
  encodeRequest(request({ model: "claude-sonnet-4-5", instructions: undefined, ...more }), quirks);

export const turnsOf = (...items: readonly Item[]) => encode({ items })["messages"] as JsonObject[];

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
export const thought = (block: JsonObject, vendor = "messages"): Item => ({
  type: "reasoning",
  summary: [],
  content: [],
  encrypted_content: seal(vendor, block),
});
export const foreign = (block: JsonObject): Item =>
  ({ type: `anthropic:${block["type"]}`, id: "x", block }) as unknown as Item;

export const says = (...content: readonly JsonObject[]) => ({ role: "assistant", content });
export const hears = (...content: readonly JsonObject[]) => ({ role: "user", content });
export const text = (words: string) => ({ type: "text", text: words });
export const use = (id: string, input: JsonObject = {}) => ({
  type: "tool_use",
  id,
  name: "read",
  input,
});
export const result = (tool_use_id: string, content: string | JsonObject[]) => ({
  type: "tool_result",
  tool_use_id,
  content,
});
