/** The answers of a vendor that supports a tool itself, and makes items of its own for it. */

import type { JsonObject } from "../../src/base/json.ts";
import { CALL_EVENTS } from "../../src/responses/fold/call-events.ts";
import { type Reply, reply } from "../../src/testing/index.ts";

/** The answer of a vendor that supports a tool itself, in the form in which its server streams it. */
export function nativeReply(items: readonly JsonObject[]): Reply {
  const head = { id: "resp_upstream", object: "response", created_at: 0, model: "m" };
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    total_tokens: 2,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const running = { ...head, status: "in_progress", output: [] };
  const ended = { ...head, status: "completed", output: items, usage };
  const events = [
    { type: "response.created", response: running },
    ...items.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item },
      ...progressOf(item, output_index),
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: ended },
  ];
  return reply.raw(
    events.map((event, sequence_number) => JSON.stringify({ ...event, sequence_number })),
  );
}

function progressOf(item: JsonObject, output_index: number): object[] {
  const { begun, running, done } = CALL_EVENTS[String(item["type"])] ?? {};
  const types = [begun, running, done].filter((type) => type !== undefined);
  return types.map((type) => ({ type, output_index, item_id: item["id"] }));
}

export function nativeMessage(text: string): JsonObject {
  return {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  };
}
