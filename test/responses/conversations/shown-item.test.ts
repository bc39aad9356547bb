import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ITEM_TYPES, type Item, parseItem } from "../../../src/protocol/items.ts";
import { toShownItem } from "../../../src/responses/conversations/shown-item.ts";
import { checkPublished } from "../../conformance/check.ts";

const called = { call_id: "call_1" };
const tool = { type: "function", name: "f", parameters: {}, strict: false };

/** Each kind with no more than a client must write. */
const LEAST: readonly object[] = [
  { type: "message", role: "user", content: "text" },
  { type: "message", role: "assistant", content: "text", status: null, phase: null },
  {
    type: "message",
    role: "user",
    content: [
      { type: "input_text", text: "t" },
      { type: "input_image", image_url: "https://x.org/a.png" },
      { type: "input_image", file_id: "file-1", image_url: null, detail: null },
      { type: "input_file", file_id: "file-1", filename: null, file_data: null },
      { type: "text", text: "t" },
    ],
  },
  {
    type: "message",
    role: "assistant",
    content: [
      {
        type: "output_text",
        text: "t",
        annotations: [{ type: "url_citation", url: "https://x.org" }],
      },
      { type: "refusal", refusal: "No." },
    ],
  },
  { type: "function_call", ...called, name: "f", arguments: "{}", namespace: null },
  { type: "function_call_output", ...called, output: "text" },
  {
    type: "function_call_output",
    ...called,
    output: [
      { type: "input_text", text: "t" },
      { type: "input_image", image_url: "data:," },
    ],
  },
  { type: "custom_tool_call", ...called, name: "f", input: "text" },
  { type: "custom_tool_call_output", ...called, output: "text" },
  { type: "reasoning", summary: [], content: null, encrypted_content: null, status: null },
  { type: "compaction", encrypted_content: "sealed" },
  { type: "additional_tools", role: "developer", tools: [tool] },
  { type: "file_search_call", queries: ["q"] },
  { type: "web_search_call", action: { type: "search", query: "q" } },
  { type: "computer_call", ...called, action: { type: "screenshot" } },
  {
    type: "computer_call_output",
    ...called,
    output: { type: "computer_screenshot", image_url: "data:," },
  },
  { type: "code_interpreter_call", code: "1" },
  { type: "image_generation_call" },
  { type: "mcp_call", server_label: "s", name: "f", arguments: "{}" },
  { type: "mcp_list_tools", server_label: "s", tools: [{ name: "f", input_schema: {} }] },
  { type: "mcp_approval_request", server_label: "s", name: "f", arguments: "{}" },
  { type: "mcp_approval_response", approval_request_id: "a", approve: true },
  { type: "local_shell_call", ...called, action: { type: "exec", command: ["ls"], env: {} } },
  { type: "local_shell_call_output", call_id: "call_1", output: "text" },
  {
    type: "shell_call",
    ...called,
    action: { commands: ["ls"], timeout_ms: null, max_output_length: null },
  },
  {
    type: "shell_call_output",
    ...called,
    output: [{ stdout: "", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
  },
  { type: "apply_patch_call", ...called, operation: { type: "delete_file", path: "a" } },
  { type: "apply_patch_call_output", ...called },
  { type: "tool_search_call", arguments: {} },
  { type: "tool_search_output", tools: [tool] },
  { type: "program", ...called, code: "1" },
  { type: "program_output", ...called, result: "1" },
];

/** Kinds that conversations of the published API do not have, and one that its description gets wrong. */
const NOT_PUBLISHED = new Set([
  "item_reference",
  "compaction_trigger",
  "multi_agent_call",
  "multi_agent_call_output",
  "agent_message",
  // It requires `request_id`, which it does not describe and the service does not send.
  "mcp_approval_response",
]);

describe("toShownItem", () => {
  for (const [index, item] of LEAST.entries()) {
    const { type } = item as Item;
    it(`shows as published what a client wrote: ${type} (${index})`, () => {
      const shown = toShownItem(parseItem(item), "id_1", new Set());
      assert.equal(shown.id, "id_1");
      if (!NOT_PUBLISHED.has(type)) checkPublished("ConversationItem", shown);
    });
  }

  it("is tried with every kind that there is", () => {
    const tried = new Set(LEAST.map((item) => (item as Item).type as string));
    const untried = ITEM_TYPES.filter((type) => !tried.has(type) && !NOT_PUBLISHED.has(type));
    assert.deepEqual(untried, []);
  });

  it("adds nothing to kinds it does not know, and keeps unknown fields", () => {
    const odd = { type: "acme:thing", deep: { a: [1] } };
    assert.deepEqual(toShownItem(parseItem(odd), "x", new Set()), { ...odd, id: "x" });
    const known = parseItem({
      type: "function_call",
      call_id: "c",
      name: "f",
      arguments: "",
      extra: 1,
    });
    assert.equal(toShownItem(known, "x", undefined)["extra"], 1);
  });
});
