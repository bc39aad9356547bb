/** What Anthropic's own tools have found, for a model of another vendor that continues the conversation. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { toMessagesItems } from "../../../src/responses/messages/messages-items.ts";
import type { MessageParam } from "../../../src/responses/messages/messages-request.ts";

interface Row {
  readonly name: string;
  readonly input: JsonObject;
  /** The type of the result's block, and its content. */
  readonly result: readonly [type: string, content: JsonObject];
}

function toPage(source: JsonObject): JsonObject {
  return { type: "web_fetch_result", url: "https://x.org", content: { type: "document", source } };
}

function itemsOf({ name, input, result: [type, content] }: Row, isVendor: boolean): JsonObject[] {
  const id = "srvtoolu_1";
  const blocks = [
    { type: "server_tool_use", id, name, input },
    { type, tool_use_id: id, content },
  ];
  const messages = [{ role: "assistant", content: blocks }] as unknown as MessageParam[];
  return toMessagesItems(messages, isVendor).items as unknown as JsonObject[];
}

const PAGE: Row = {
  name: "web_fetch",
  input: { url: "https://x.org" },
  result: ["web_fetch_tool_result", toPage({ type: "text", data: "The page." })],
};
const ROWS: readonly (readonly [Row, JsonObject])[] = [
  [PAGE, { results: [{ url: "https://x.org", text: "The page." }] }],
  [
    { ...PAGE, result: [PAGE.result[0], toPage({ type: "base64", data: "JVBERi0=" })] },
    { results: [{ url: "https://x.org", text: "" }] },
  ],
  [
    {
      name: "bash_code_execution",
      input: { command: "ls" },
      result: ["bash_code_execution_tool_result", { stdout: "a.txt", stderr: "warned" }],
    },
    { code: "ls", outputs: [{ type: "logs", logs: "a.txt\nwarned" }] },
  ],
  [
    {
      name: "text_editor_code_execution",
      input: { command: "view", path: "a.txt" },
      result: ["text_editor_code_execution_tool_result", { content: "One." }],
    },
    { code: "view a.txt", outputs: [{ type: "logs", logs: "One." }] },
  ],
  [
    {
      name: "code_execution",
      input: { code: "1/0" },
      result: [
        "code_execution_tool_result",
        { type: "code_execution_tool_result_error", error_code: "unavailable" },
      ],
    },
    { status: "failed", outputs: [{ type: "logs", logs: "unavailable" }] },
  ],
];

describe("what Anthropic's own tools have found", () => {
  it("is read by a model of another vendor", () => {
    for (const [row, fields] of ROWS) {
      const [item, ...more] = itemsOf(row, false);
      assert.deepEqual({ ...item, ...fields }, item, row.name);
      assert.deepEqual(more, []);
    }
  });

  it("goes back to Anthropic as it was", () => {
    for (const [row] of ROWS) {
      const [call, result] = itemsOf(row, true);
      assert.equal(call?.["type"], "anthropic:server_tool_use", row.name);
      assert.equal(result?.["type"], `anthropic:${row.result[0]}`);
    }
  });
});
