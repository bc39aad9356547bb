/** The facts about a frame of an event stream that the faults need, on either wire. */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";

const TERMINAL_EVENTS = [
  "response.completed",
  "response.incomplete",
  "response.failed",
  "message_delta",
  "message_stop",
  "message-end",
];
const CALL_ITEMS = ["function_call", "tool_call", "custom_tool_call"];

/** The payload of a frame's `data:` line. */
export function dataOf(frame: string): string | undefined {
  return /^data: (.*)$/m.exec(frame)?.[1];
}

/** True if the frame carries a piece of output. */
export function isDelta(frame: string): boolean {
  const data = jsonOf(frame);
  if (!data) return false;
  if (typeof data["type"] === "string") return /(\.|block_|-)delta$/.test(data["type"]);
  const candidate = candidateOf(data);
  if (candidate) return hasParts(candidate["content"]);
  const delta = choiceOf(data)?.["delta"];
  if (!isJsonObject(delta)) return false;
  const { role: _, ...said } = delta;
  return Object.values(said).some((value) => value !== "" && value !== null);
}

/** True if the frame says that the answer is over, or comes after one that did. */
export function isTerminal(frame: string): boolean {
  if (dataOf(frame) === "[DONE]") return true;
  const data = jsonOf(frame);
  if (!data) return false;
  if (typeof data["type"] === "string") return TERMINAL_EVENTS.includes(data["type"]);
  if (typeof candidateOf(data)?.["finishReason"] === "string") return true;
  return isJsonObject(data["usage"]) || typeof choiceOf(data)?.["finish_reason"] === "string";
}

/** A copy of the frame with one more field in its payload. */
export function withField(frame: string, name: string, value: Json): string {
  const data = jsonOf(frame);
  return data ? withData(frame, { ...data, [name]: value }) : frame;
}

/** A function that gives each call of one stream the first call's id. */
export function shareCallIds(): (frame: string) => string[] {
  let first: Json | undefined;
  const share = (id: Json | undefined): Json | undefined => {
    first ??= id;
    return id === undefined ? undefined : first;
  };

  /**
   * Searches the whole payload, because calls are in deltas, in items and in the finished response.
   */
  function rename(value: Json | undefined): Json | undefined {
    if (Array.isArray(value)) return value.map((entry) => rename(entry) ?? null);
    if (!isJsonObject(value)) return value;
    const fields = Object.entries(value).map(([name, field]) => [name, rename(field)]);
    return { ...Object.fromEntries(fields), ...sharedIds(value) };
  }

  function sharedIds(value: JsonObject): JsonObject {
    const type = String(value["type"]);
    if (CALL_ITEMS.includes(type) && value["call_id"] !== undefined) {
      return { call_id: share(value["call_id"]) };
    }
    if (type === "tool_call" || type === "tool_use") return { id: share(value["id"]) };
    if (type === "response.tool_call_arguments.delta") return { item_id: share(value["item_id"]) };
    const call = value["functionCall"];
    if (isJsonObject(call) && call["id"] !== undefined) {
      return { functionCall: { ...call, id: share(call["id"]) } };
    }
    const isChatCall = isJsonObject(value["function"]) && value["id"] !== undefined;
    return isChatCall ? { id: share(value["id"]) } : {};
  }

  return (frame) => {
    const data = jsonOf(frame);
    return [data ? withData(frame, rename(data) ?? null) : frame];
  };
}

function withData(frame: string, data: Json): string {
  const event = /^event: .*\n/.exec(frame)?.[0] ?? "";
  return `${event}data: ${JSON.stringify(data)}\n\n`;
}

function jsonOf(frame: string): JsonObject | undefined {
  const data = tryParseJson(dataOf(frame) ?? "");
  return isJsonObject(data) ? data : undefined;
}

function choiceOf(data: JsonObject): JsonObject | undefined {
  const choices = data["choices"];
  const first = Array.isArray(choices) ? choices[0] : undefined;
  return isJsonObject(first) ? first : undefined;
}

/** The first candidate of a Gemini event. */
function candidateOf(data: JsonObject): JsonObject | undefined {
  const candidates = data["candidates"];
  const first = Array.isArray(candidates) ? candidates[0] : undefined;
  return isJsonObject(first) ? first : undefined;
}

function hasParts(content: Json | undefined): boolean {
  const parts = isJsonObject(content) ? content["parts"] : undefined;
  return Array.isArray(parts) && parts.some((part) => isJsonObject(part) && part["text"] !== "");
}
