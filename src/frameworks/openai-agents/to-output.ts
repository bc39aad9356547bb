/** Converts a response to the Agents SDK's output. Pure. */

import type { Json, JsonObject } from "../../base/json.ts";
import { listOf, recordOf, textOf } from "../ask-server.ts";
import { type AgentsOutput, AgentsUsage } from "./model-types.ts";
import { ITEM } from "./to-request.ts";

export function toOutput(response: JsonObject): AgentsOutput[] {
  return listOf(response["output"]).map(toItem);
}

/** The original item is kept beside it, so that it can be sent back unchanged. */
function toItem(item: JsonObject): AgentsOutput {
  const providerData = { [ITEM]: item };
  const id = textOf(item["id"]);
  const status = item["status"] === "incomplete" ? "incomplete" : "completed";
  switch (item["type"]) {
    case "message": {
      const content = listOf(item["content"]).map(toPart);
      return { type: "message", role: "assistant", id, status, content, providerData };
    }
    case "function_call":
      return {
        type: "function_call",
        id,
        callId: textOf(item["call_id"]),
        name: textOf(item["name"]),
        arguments: textOf(item["arguments"]),
        status,
        providerData,
      };
    case "reasoning":
      return { type: "reasoning", id, ...toThoughts(item), providerData };
    default:
      return toHostedCall(item, id);
  }
}

function toPart({ type, text, refusal }: JsonObject): MessagePart {
  if (type === "refusal") return { type, refusal: textOf(refusal) };
  return { type: "output_text", text: textOf(text) };
}

type MessagePart = Extract<AgentsOutput, { type: "message" }>["content"][number];
type Thoughts = Pick<Extract<AgentsOutput, { type: "reasoning" }>, "content" | "rawContent">;

function toThoughts({ summary, content }: JsonObject): Thoughts {
  return {
    content: listOf(summary).map(({ text }) => ({ type: "input_text", text: textOf(text) })),
    rawContent: listOf(content).map(({ text }) => ({ type: "reasoning_text", text: textOf(text) })),
  };
}

/**
 * A call that the server makes itself, or for which it needs approval. The framework reads approvals from
 * the fields of the published item, so its data has these, too.
 */
function toHostedCall(item: JsonObject, id: string): AgentsOutput {
  const { name, arguments: input, output, status } = item;
  return {
    type: "hosted_tool_call",
    id,
    name: textOf(name) || textOf(item["type"]),
    ...(typeof input === "string" ? { arguments: input } : {}),
    status: textOf(status) || "completed",
    ...(typeof output === "string" ? { output } : {}),
    providerData: { ...item, [ITEM]: item },
  };
}

export function toUsage(response: JsonObject): AgentsUsage {
  const usage = recordOf(response["usage"]);
  return new AgentsUsage({
    input: Number(usage["input_tokens"] ?? 0),
    output: Number(usage["output_tokens"] ?? 0),
    inputDetails: countsOf(usage["input_tokens_details"]),
    outputDetails: countsOf(usage["output_tokens_details"]),
  });
}

function countsOf(details: Json | undefined): Record<string, number> {
  const counts = Object.entries(recordOf(details)).filter(([, count]) => typeof count === "number");
  return Object.fromEntries(counts) as Record<string, number>;
}
