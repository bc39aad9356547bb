import type { JsonObject } from "../../base/json.ts";
import type { WireEvent } from "./schema.ts";

/** Recognizes the most common events without reading their whole shape, which takes four times as long. */
export function isPlainDelta(event: JsonObject): event is JsonObject & WireEvent {
  const { delta, output_index, content_index, summary_index, item_id, logprobs } = event;
  if (typeof delta !== "string" || typeof output_index !== "number") return false;
  if (content_index !== undefined && typeof content_index !== "number") return false;
  if (summary_index !== undefined && typeof summary_index !== "number") return false;
  if (item_id !== undefined && typeof item_id !== "string") return false;
  return logprobs === undefined || (Array.isArray(logprobs) && logprobs.length === 0);
}
