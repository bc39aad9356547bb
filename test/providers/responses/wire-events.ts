/** Events of the Responses stream in the shortest form that a decoder accepts, and helpers to decode them. */

import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { createDecoder } from "../../../src/providers/responses/decode.ts";
import type { Decoder, Quirks } from "../../../src/providers/wire.ts";
import { assertEventOrder } from "../event-order.ts";
import { request } from "../provider-contract.ts";
import { decodeAll } from "../streams.ts";

export const createResponsesDecoder = (
  more: Partial<ModelRequest> = {},
  quirks: Quirks = {},
): Decoder => createDecoder(request(more), quirks);

export function decode(...payloads: readonly (object | string)[]): ModelEvent[] {
  const events = decodeAll(createResponsesDecoder(), ...payloads);
  assertEventOrder(events);
  return events;
}

export const created = { type: "response.created", response: { id: "r1", model: "m1" } };
export const completed = (response: object = {}): object => ({
  type: "response.completed",
  response: { id: "r1", status: "completed", ...response },
});
export const added = (output_index: number, item: object) => ({
  type: "response.output_item.added",
  output_index,
  item,
});
export const done = (output_index: number, item: object) => ({
  type: "response.output_item.done",
  output_index,
  item,
});
export const message = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "in_progress",
  content: [],
};
export const call = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "f",
  arguments: "",
};
