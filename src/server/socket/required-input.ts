/**
 * The input that the client must send after a response has ended: answers to the calls that the client makes, and
 * approvals.
 */

import type { EmittedItem } from "../../protocol/emitted.ts";
import { ANSWERS } from "../../responses/bridge/client-calls.ts";

/** The item that the client must send, without the fields that only the client knows. */
export interface RequiredInput {
  readonly type: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly execution?: "client";
  readonly approval_request_id?: string;
}

export function toRequiredInput(output: readonly EmittedItem[]): RequiredInput[] {
  const items = output as readonly OutputItem[];
  const answered = new Set(items.map(({ type, call_id }) => `${type} ${call_id}`));
  return items.flatMap((item): RequiredInput[] => {
    const { type, id, call_id, name } = item;
    if (type === "mcp_approval_request") {
      return id === undefined ? [] : [{ type: "mcp_approval_response", approval_request_id: id }];
    }
    const answer = ANSWERS.get(type);
    if (!answer || !call_id || answered.has(`${answer} ${call_id}`)) return [];
    return [
      {
        type: answer,
        call_id,
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
