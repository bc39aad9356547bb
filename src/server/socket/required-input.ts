/** What a response that has ended waits for: its calls that the client makes, and approvals. */

import type { EmittedItem } from "../../protocol/emitted.ts";

/** The item that the client must send, without what only it knows. */
export interface RequiredInput {
  readonly type: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly execution?: "client";
  readonly approval_request_id?: string;
}

/** Calls that clients make, and what answers them. */
const ANSWERS: Readonly<Record<string, string>> = {
  function_call: "function_call_output",
  custom_tool_call: "custom_tool_call_output",
  computer_call: "computer_call_output",
  shell_call: "shell_call_output",
  local_shell_call: "local_shell_call_output",
  apply_patch_call: "apply_patch_call_output",
  tool_search_call: "tool_search_output",
};

export function toRequiredInput(output: readonly EmittedItem[]): RequiredInput[] {
  const items = output as readonly OutputItem[];
  const answered = new Set(items.map(({ type, call_id }) => `${type} ${call_id}`));
  return items.flatMap((item): RequiredInput[] => {
    const { type, id, call_id, name } = item;
    if (type === "mcp_approval_request") {
      return id === undefined ? [] : [{ type: "mcp_approval_response", approval_request_id: id }];
    }
    const answer = Object.hasOwn(ANSWERS, type) ? ANSWERS[type] : undefined;
    if (!answer || !call_id || answered.has(`${answer} ${call_id}`)) return [];
    return [
      {
        ...{ type: answer, call_id },
        ...(type === "function_call" && name !== undefined ? { name } : {}),
        ...(type === "tool_search_call" ? { execution: "client" as const } : {}),
      },
    ];
  });
}

interface OutputItem {
  readonly type: string;
  readonly id?: string;
  readonly call_id?: string | null;
  readonly name?: string;
}
