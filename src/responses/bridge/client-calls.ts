/** Items after which it is the client's turn, unless this server makes their calls. */

import type { Item } from "../../protocol/items.ts";

const FOR_THE_CLIENT: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "computer_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "tool_search_call",
  "mcp_approval_request",
]);

export function isForClient(item: Item): boolean {
  // A vendor that has searched tells its search without asking for an answer.
  if (item.type === "tool_search_call" && item.execution === "server") return false;
  return FOR_THE_CLIENT.has(item.type);
}
