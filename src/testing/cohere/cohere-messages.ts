/** What Cohere refuses in the messages of a request. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { checkFields, objectOf, objectsIn, partsOf } from "./cohere-json.ts";
import { type CohereCheck, invalid } from "./cohere-rejection.ts";

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  system: ["role", "content"],
  user: ["role", "content"],
  assistant: ["role", "content", "tool_plan", "tool_calls", "citations"],
  tool: ["role", "content", "tool_call_id"],
};
const PARTS: Readonly<Record<string, readonly string[]>> = {
  system: ["text"],
  user: ["text", "image_url"],
  assistant: ["text", "thinking"],
  tool: ["text", "document"],
};

export function* checkMessages(messages: Json | undefined): CohereCheck {
  if (!Array.isArray(messages) || messages.length === 0) {
    return yield invalid("messages must contain at least one message.");
  }
  for (const [at, message] of messages.entries()) {
    if (!isJsonObject(message)) yield invalid(`message at index ${at} must be an object.`);
    else yield* checkMessage(message, at);
  }
  const known = objectsIn(messages);
  yield* checkOrder(known);
  const images = known.flatMap(partsOf).filter(({ type }) => type === "image_url");
  if (images.length > MAX_IMAGES) yield invalid(`at most ${MAX_IMAGES} images can be provided.`);
}

const MAX_IMAGES = 20;

function* checkMessage(message: JsonObject, at: number): CohereCheck {
  const role = String(message["role"]);
  const fields = FIELDS[role];
  if (!fields) return yield invalid(`invalid role '${role}' in message at index ${at}.`);
  yield* checkFields(message, fields);
  if (role === "system" && at > 0) {
    yield { status: 400, message: "system turn must be the first in the list" };
  }
  const parts = partsOf(message);
  const hasCalls = objectsIn(message["tool_calls"]).length > 0;
  if (parts.length === 0 && !hasCalls) yield invalid(`message at index ${at} must not be empty.`);
  for (const part of parts) yield* checkPart(part, role);
  for (const call of objectsIn(message["tool_calls"])) yield* checkCall(call);
}

function* checkPart(part: JsonObject, role: string): CohereCheck {
  const type = String(part["type"]);
  if (!PARTS[role]?.includes(type)) {
    return yield invalid(`content of type '${type}' is not supported in a ${role} message.`);
  }
  if (type === "document") return;
  const value = part[type];
  if (type === "image_url") return yield* checkImage(objectOf(value));
  if (typeof value !== "string" || value === "") yield invalid(`${type} must not be empty.`);
}

function* checkImage({ url, detail, ...rest }: JsonObject): CohereCheck {
  yield* checkFields(rest, []);
  if (!/^(https?:|data:image\/(png|jpeg|webp|gif);base64,)/.test(String(url))) {
    yield invalid("image_url must be a valid base64 data URL or an http(s) URL.");
  }
  if (detail !== undefined && !["low", "high", "auto"].includes(String(detail))) {
    yield invalid("detail must be one of: low, high, auto.");
  }
}

function* checkCall(call: JsonObject): CohereCheck {
  yield* checkFields(call, ["id", "type", "function"]);
  const { name, arguments: given, ...rest } = objectOf(call["function"]);
  yield* checkFields(rest, []);
  if (typeof call["id"] !== "string" || call["id"] === "")
    yield invalid("tool call must have an id.");
  if (call["type"] !== "function") yield invalid("tool call type must be 'function'.");
  if (typeof name !== "string") yield invalid("tool call must have a function name.");
  if (typeof given !== "string") yield invalid("tool call arguments must be a string.");
}

/** Each call is answered once, before any other message; the last message is not the model's. */
function* checkOrder(messages: readonly JsonObject[]): CohereCheck {
  let open = new Set<Json | undefined>();
  for (const message of messages) {
    if (message["role"] === "tool") {
      const id = message["tool_call_id"];
      if (!open.delete(id)) yield invalid(`tool_call_id '${id}' not found in the tool calls.`);
      continue;
    }
    if (open.size > 0) yield invalid("every tool call must be followed by its tool message.");
    open = new Set(objectsIn(message["tool_calls"]).map(({ id }) => id));
  }
  const last = messages.at(-1)?.["role"];
  if (last !== "user" && last !== "tool") {
    yield invalid("the last message must be from the user or a tool.");
  }
}
