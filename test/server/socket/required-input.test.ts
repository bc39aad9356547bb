import assert from "node:assert/strict";
import { it } from "node:test";
import type { EmittedItem } from "../../../src/protocol/emitted.ts";
import { toRequiredInput } from "../../../src/server/socket/required-input.ts";

it("names what a response waits for, and nothing that the server has answered itself", () => {
  const output = [
    { type: "message", id: "msg_1" },
    { type: "function_call", call_id: "1", name: "add" },
    { type: "function_call_output", call_id: "2" },
    { type: "function_call", call_id: "2", name: "own" },
    { type: "custom_tool_call", call_id: "3", name: "sql" },
    { type: "shell_call", call_id: "4" },
    { type: "shell_call_output", call_id: "4" },
    { type: "tool_search_call", call_id: "5" },
    { type: "mcp_approval_request", id: "mcpr_1", name: "write" },
    { type: "mcp_call", id: "mcp_1", name: "read" },
  ] as unknown as EmittedItem[];
  assert.deepEqual(toRequiredInput(output), [
    { type: "function_call_output", call_id: "1", name: "add" },
    { type: "custom_tool_call_output", call_id: "3" },
    { type: "tool_search_output", call_id: "5", execution: "client" },
    { type: "mcp_approval_response", approval_request_id: "mcpr_1" },
  ]);
});
