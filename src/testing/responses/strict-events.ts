/**
 * Model events as the real API streams them: `response.created`, `.in_progress`, the events of each
 * item in their fixed order, one terminal event. Numbers run from 0 without gaps.
 */

import { toFailure } from "../../base/failure.ts";
import type { MakeId } from "../../base/ids.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import { encodeSse } from "../../base/sse.ts";
import type { Item } from "../../protocol/items.ts";
import type { ItemEnd, ItemStart, ModelEvent } from "../../protocol/model-events.ts";
import { createPartWriter, type UnnumberedEvent, type UpstreamPartWriter } from "./part-writer.ts";
import { idOf } from "./response-memory.ts";
import {
  endState,
  IN_PROGRESS,
  type ResponseHead,
  toOutputItem,
  toResponse,
} from "./response-object.ts";

export interface StrictOptions {
  readonly head: Omit<ResponseHead, "id">;
  readonly makeId: MakeId;
  /** The account that reasoning is encrypted for; undefined if items carry no encrypted content. */
  readonly sealed: string | undefined;
  /** Called once, before the terminal event of an answer that did not fail. */
  readonly onEnd: (responseId: string, output: readonly JsonObject[]) => void;
}

type Batches = AsyncIterable<readonly ModelEvent[]>;

/** Yields whole frames. */
export async function* encodeStrictStream(
  batches: Batches,
  options: StrictOptions,
): AsyncGenerator<string, void> {
  let next = 0;
  for await (const { type, ...fields } of strictEvents(batches, options)) {
    yield encodeSse(type, { type, sequence_number: next++, ...fields });
  }
}

/** The response to a plain request: that of the stream's terminal event. */
export async function collectStrict(batches: Batches, options: StrictOptions): Promise<JsonObject> {
  let response: JsonObject = {};
  for await (const event of strictEvents(batches, options)) {
    if (event["response"]) response = event["response"] as JsonObject;
  }
  return response;
}

async function* strictEvents(
  batches: Batches,
  options: StrictOptions,
): AsyncGenerator<UnnumberedEvent, void> {
  const writer = createStrictWriter(options);
  try {
    for await (const batch of batches) {
      for (const event of batch) yield* writer.write(event);
    }
  } catch (thrown) {
    yield* writer.fail(toFailure(thrown).message);
  }
}

interface OpenItem {
  readonly id: string;
  readonly parts: UpstreamPartWriter;
}

interface StrictWriter {
  write(event: ModelEvent): Iterable<UnnumberedEvent>;
  /** The two events that end a failed response. */
  fail(message: string): Iterable<UnnumberedEvent>;
}

function createStrictWriter({ head, makeId, sealed, onEnd }: StrictOptions): StrictWriter {
  let whole: ResponseHead = { ...head, id: "" };
  const open = new Map<number, OpenItem>();
  const output: JsonObject[] = [];

  function* start(id: string): Generator<UnnumberedEvent, void> {
    whole = { ...head, id };
    const response = toResponse(whole, IN_PROGRESS);
    yield { type: "response.created", response };
    yield { type: "response.in_progress", response };
  }

  function openItem({ index, item }: ItemStart): UnnumberedEvent {
    const id = idOf(item) ?? makeId(prefixOf(item));
    open.set(index, { id, parts: createPartWriter(id, index) });
    const added = toOutputItem(item, { id, sealed, status: "in_progress" });
    return { type: "response.output_item.added", output_index: index, item: added };
  }

  function* closeItem({ index, item }: ItemEnd): Generator<UnnumberedEvent, void> {
    const opened = open.get(index);
    if (!opened) return;
    const done = toOutputItem(item, { id: opened.id, sealed });
    output[index] = done;
    yield* opened.parts.close(item);
    yield { type: "response.output_item.done", output_index: index, item: done };
  }

  function* write(event: ModelEvent): Generator<UnnumberedEvent, void> {
    switch (event.type) {
      case "start":
        return yield* start(event.response_id === "" ? makeId("resp") : event.response_id);
      case "item_start":
        return yield openItem(event);
      case "item_end":
        return yield* closeItem(event);
      case "opaque":
        return yield event.event as UnnumberedEvent;
      case "end": {
        const state = endState(event.reason, output, event.usage);
        onEnd(whole.id, output);
        return yield { type: `response.${state.status}`, response: toResponse(whole, state) };
      }
      default:
        yield* open.get(event.index)?.parts.write(event) ?? [];
    }
  }

  function* fail(message: string): Generator<UnnumberedEvent, void> {
    const code = "server_error";
    const error: Json = { type: code, code, message, param: null };
    yield { type: "error", error };
    const state = { ...IN_PROGRESS, status: "failed", output, error: { code, message } } as const;
    yield { type: "response.failed", response: toResponse(whole, state) };
  }

  return { write, fail };
}

function prefixOf(item: Item): "msg" | "fc" | "rs" | "ctc" | "item" {
  if (item.type === "message") return "msg";
  if (item.type === "function_call") return "fc";
  if (item.type === "custom_tool_call") return "ctc";
  return item.type === "reasoning" ? "rs" : "item";
}
