/** Items after which it is the client's turn, unless this server makes their calls. */
export const FOR_THE_CLIENT: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "computer_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "tool_search_call",
  "mcp_approval_request",
]);
