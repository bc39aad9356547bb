/**
 * Converts the events of a response to the AI SDK's stream: texts as they arrive, everything else when its
 * item has ended.
 */

import type { JsonObject } from "../../base/json.ts";
import { recordOf, textOf } from "../ask-server.ts";
import { type StreamPart, toMetadata } from "./language-model.ts";
import { toFinish, toUntold } from "./to-content.ts";

type ReadEvent = (event: JsonObject) => StreamPart[];

/** Reads one event of a response. Call it with all of them in order. */
export function createPartReader(): ReadEvent {
  const read = createEventReader();
  let isFailed = false;
  return (event) =>
    read(event).filter(({ type }) => {
      // An `error` event comes before the `response.failed` that says the same.
      const isTold = type === "error" && isFailed;
      isFailed ||= type === "error";
      return !isTold;
    });
}

function createEventReader(): ReadEvent {
  /** Texts and reasoning that have begun, by their ids. */
  const begun = new Set<string>();
  /** The ids of calls, by those of their items. */
  const calls = new Map<string, string>();

  function addDelta(kind: "text" | "reasoning", id: string, delta: string): StreamPart[] {
    const start: StreamPart[] = begun.has(id) ? [] : [{ type: `${kind}-start`, id }];
    begun.add(id);
    return [...start, { type: `${kind}-delta`, id, delta }];
  }

  function beginItem({ type, id, call_id, name }: JsonObject): StreamPart[] {
    if (type !== "function_call") return [];
    calls.set(textOf(id), textOf(call_id));
    return [{ type: "tool-input-start", id: textOf(call_id), toolName: textOf(name) }];
  }

  function endItem(item: JsonObject): StreamPart[] {
    const id = textOf(item["id"]);
    if (item["type"] === "function_call") {
      return [{ type: "tool-input-end", id: textOf(item["call_id"]) }, ...toUntold(item)];
    }
    if (item["type"] === "reasoning") {
      const start: StreamPart[] = begun.has(id) ? [] : [{ type: "reasoning-start", id }];
      return [...start, { type: "reasoning-end", id, providerMetadata: toMetadata({ item }) }];
    }
    return toUntold(item);
  }

  return (event) => {
    const id = textOf(event["item_id"]);
    const place = `${id}:${String(event["content_index"])}`;
    const delta = textOf(event["delta"]);
    switch (event["type"]) {
      case "response.created":
        return [toHead(recordOf(event["response"]))];
      case "response.output_text.delta":
      case "response.refusal.delta":
        return addDelta("text", place, delta);
      case "response.content_part.done":
        return begun.delete(place) ? [{ type: "text-end", id: place }] : [];
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
        return addDelta("reasoning", id, delta);
      case "response.function_call_arguments.delta":
        return [{ type: "tool-input-delta", id: calls.get(id) ?? id, delta }];
      case "response.output_item.added":
        return beginItem(recordOf(event["item"]));
      case "response.output_item.done":
        return endItem(recordOf(event["item"]));
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        return toEnd(recordOf(event["response"]));
      case "error":
        return [{ type: "error", error: new Error(textOf(event["message"])) }];
      default:
        return [];
    }
  };
}

function toHead({ id, created_at, model }: JsonObject): StreamPart {
  return {
    type: "response-metadata",
    id: textOf(id),
    timestamp: toDate(created_at),
    modelId: textOf(model),
  };
}

/** Seconds since 1970. */
export function toDate(seconds: unknown): Date {
  return new Date(Number(seconds) * 1000);
}

function toEnd(response: JsonObject): StreamPart[] {
  const message = textOf(recordOf(response["error"])["message"]);
  const failed: StreamPart[] =
    response["status"] === "failed" ? [{ type: "error", error: new Error(message) }] : [];
  return [...failed, { type: "finish", ...toFinish(response) }];
}
