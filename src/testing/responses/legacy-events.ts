/**
 * Model events in the legacy words: seven event types, `tool_call` items whose `id` is the call's.
 *
 * The description has no word for an answer that was interrupted or that failed; those two endings are
 * written as in the real API, because a client must not take either for a whole answer.
 */

import { toFailure } from "../../base/failure.ts";
import type { MakeId } from "../../base/ids.ts";
import { asJsonObject, type JsonObject } from "../../base/json.ts";
import { encodeSse } from "../../base/sse.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelEnd, ModelEvent } from "../../protocol/model-events.ts";

export interface LegacyOptions {
  readonly makeId: MakeId;
  /** Called once, before the terminal event of an answer that did not fail. */
  readonly onEnd: (responseId: string, output: readonly Item[]) => void;
}

/** Yields whole frames. */
export async function* encodeLegacyStream(
  batches: AsyncIterable<readonly ModelEvent[]>,
  options: LegacyOptions,
): AsyncGenerator<string, void> {
  const encode = createLegacyEncoder(options);
  try {
    for await (const batch of batches) {
      for (const event of batch) {
        const said = encode(event);
        if (said) yield encodeSse(String(said["type"]), said);
      }
    }
  } catch (thrown) {
    const error = { code: "server_error", message: toFailure(thrown).message };
    const type = "response.failed";
    yield encodeSse(type, { type, response: { status: "failed", error } });
  }
}

function createLegacyEncoder({
  makeId,
  onEnd,
}: LegacyOptions): (event: ModelEvent) => JsonObject | undefined {
  let id = "";
  const output: Item[] = [];
  const callIds = new Map<number, string>();

  function toCall(index: number, item: Item): JsonObject | undefined {
    if (item.type !== "function_call") return undefined;
    callIds.set(index, item.call_id);
    return { type: "tool_call", id: item.call_id, name: item.name };
  }

  function end({ reason, usage }: ModelEnd): JsonObject {
    onEnd(id, output);
    const counted = asJsonObject(usage);
    if (reason !== "length") {
      return { type: "response.completed", response: { id, status: "completed", usage: counted } };
    }
    const incomplete_details = { reason: "max_output_tokens" };
    const response = { id, status: "incomplete", incomplete_details, usage: counted };
    return { type: "response.incomplete", response };
  }

  return (event) => {
    switch (event.type) {
      case "start":
        id = event.response_id === "" ? makeId("resp") : event.response_id;
        return { type: "response.created", response: { id } };
      case "text_delta":
      case "refusal_delta":
        return { type: "response.output_text.delta", delta: event.delta };
      case "reasoning_delta":
        return { type: "response.reasoning_summary_text.delta", delta: event.delta };
      case "item_start": {
        const item = toCall(event.index, event.item);
        return item && { type: "response.output_item.added", output_index: event.index, item };
      }
      case "arguments_delta": {
        const place = { output_index: event.index, item_id: callIds.get(event.index) };
        return { type: "response.tool_call_arguments.delta", ...place, delta: event.delta };
      }
      case "item_end": {
        output.push(event.item);
        if (event.item.type !== "function_call") return undefined;
        const item = { ...toCall(event.index, event.item), arguments: event.item.arguments };
        return { type: "response.output_item.done", output_index: event.index, item };
      }
      case "end":
        return end(event);
      default:
        return undefined;
    }
  };
}
