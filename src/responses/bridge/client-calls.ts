/** Items after which it is the client's turn, unless this server makes their calls, and what answers each. */

import type { Item } from "../../protocol/items.ts";

export const ANSWERS: ReadonlyMap<string, string> = new Map([
  ["function_call", "function_call_output"],
  ["custom_tool_call", "custom_tool_call_output"],
  ["computer_call", "computer_call_output"],
  ["local_shell_call", "local_shell_call_output"],
  ["shell_call", "shell_call_output"],
  ["apply_patch_call", "apply_patch_call_output"],
  ["tool_search_call", "tool_search_output"],
  ["mcp_approval_request", "mcp_approval_response"],
]);

export function isForClient(item: Item): boolean {
  // A vendor that has searched tells its search without asking for an answer.
  if (item.type === "tool_search_call" && item.execution === "server") return false;
  return ANSWERS.has(item.type);
}
