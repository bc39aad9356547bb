import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toChatItems } from "../../../src/responses/chat/chat-items.ts";
import type { ChatMessage } from "../../../src/responses/chat/chat-message.ts";

const call = (id: string): ChatMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }],
});
const result = (id: string): ChatMessage => ({ role: "tool", tool_call_id: id, content: "x" });

describe("the result of a tool in a chat", () => {
  it("answers the call before it with its id, also where a server uses ids again", () => {
    const { items } = toChatItems([call("c"), result("c"), call("c"), result("c")]);
    assert.deepEqual(
      items.map(({ type }) => type),
      ["function_call", "function_call_output", "function_call", "function_call_output"],
    );
  });

  const BAD: Readonly<Record<string, readonly [ChatMessage[], RegExp]>> = {
    "no call has its id": [
      [call("c"), result("d")],
      /names no call of the `tool_calls` before it: d/,
    ],
    "its call comes later": [
      [result("c"), call("c")],
      /names no call of the `tool_calls` before it/,
    ],
    "its call has a result": [
      [call("c"), result("c"), result("c")],
      /names a call that has a result/,
    ],
  };
  for (const [name, [messages, message]] of Object.entries(BAD)) {
    it(`is refused if ${name}`, () => {
      assert.throws(() => toChatItems(messages), { code: "invalid_request", message });
    });
  }
});
