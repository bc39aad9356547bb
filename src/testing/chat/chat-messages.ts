/**
 * What chat completions refuses in the messages. Only one rule needs earlier messages: an assistant message with tool
 * calls must be followed at once by one `tool` message for each call.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import {
  invalidType,
  invalidValue,
  missing,
  type RequestCheck,
  reject,
} from "../exchange/rejection.ts";
import { checkName } from "../exchange/request-checks.ts";

const ROLES = ["system", "assistant", "user", "function", "tool", "developer"];
const PARTS = ["text", "image_url", "input_audio", "refusal", "audio", "file"];

export function* checkMessages(messages: Json | undefined): RequestCheck {
  if (messages === undefined) return yield missing("messages");
  if (!Array.isArray(messages))
    return yield invalidType("messages", "an array of objects", messages);
  if (messages.length === 0) {
    const message =
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
    return yield reject(message, { param: "messages", code: "empty_array" });
  }
  for (const [index, message] of messages.entries()) {
    const place = `messages[${index}]`;
    if (!isJsonObject(message)) return yield invalidType(place, "an object", message);
    yield* checkMessage(message, place);
  }
  yield* checkPairs(messages.filter(isJsonObject));
}

/** The calls of an assistant message. */
export function toolCallsOf(message: JsonObject): readonly JsonObject[] {
  const calls = message["tool_calls"];
  return Array.isArray(calls) ? calls.filter(isJsonObject) : [];
}

function* checkMessage(message: JsonObject, place: string): RequestCheck {
  const { role, content } = message as { role?: Json; content?: Json };
  if (role === undefined) return yield missing(`${place}.role`);
  if (!ROLES.includes(String(role))) return yield invalidValue(`${place}.role`, role, ROLES);
  if (Array.isArray(content)) yield* checkParts(content, partsFor(String(role)), place);
  else if (typeof content !== "string" && !(role === "assistant" && hasOutput(message))) {
    yield reject(
      `Invalid value for 'content': expected a string, got ${JSON.stringify(content ?? null)}.`,
      {
        param: `${place}.content`,
      },
    );
  }
  if (role === "tool" && message["tool_call_id"] === undefined)
    yield missing(`${place}.tool_call_id`);
  for (const [index, call] of toolCallsOf(message).entries()) {
    yield* checkCall(call, `${place}.tool_calls[${index}]`);
  }
}

function hasOutput(message: JsonObject): boolean {
  return toolCallsOf(message).length > 0 || typeof message["refusal"] === "string";
}

/** Only a user's message may have anything except text. */
function partsFor(role: string): readonly string[] {
  if (role === "user") return PARTS;
  return role === "assistant" ? ["text", "refusal"] : ["text"];
}

function* checkParts(
  parts: readonly Json[],
  known: readonly string[],
  place: string,
): RequestCheck {
  for (const [index, part] of parts.entries()) {
    const type = isJsonObject(part) ? part["type"] : part;
    if (!known.includes(String(type))) {
      yield invalidValue(`${place}.content[${index}].type`, type, known);
    }
    if (isJsonObject(part)) yield* checkMedia(part, `${place}.content[${index}]`);
  }
}

/** Checks the field that a part's type names. */
function* checkMedia(part: JsonObject, place: string): RequestCheck {
  const media = part[String(part["type"])];
  if (!isJsonObject(media)) return;
  const { detail, format, file_id: id, file_data: data } = media;
  const at = `${place}.${String(part["type"])}`;
  if (detail !== undefined && !DETAILS.includes(String(detail))) {
    yield invalidValue(`${at}.detail`, detail, DETAILS);
  }
  if (part["type"] === "input_audio" && !SOUNDS.includes(String(format))) {
    yield invalidValue(`${at}.format`, format, SOUNDS);
  }
  if (part["type"] !== "file" || id !== undefined) return;
  if (media["filename"] === undefined) yield missing(`${at}.file_id`);
  if (String(data).startsWith("data:application/pdf;base64,")) return;
  const message = `Invalid file data: '${at}.file_data'. Expected a base64-encoded data URL with an application/pdf MIME type.`;
  yield reject(message, { param: at, code: "invalid_value" });
}

const DETAILS = ["auto", "low", "high"];
const SOUNDS = ["wav", "mp3"];

function* checkCall(call: JsonObject, place: string): RequestCheck {
  if (typeof call["id"] !== "string") yield missing(`${place}.id`);
  if (call["type"] !== "function") return yield missing(`${place}.type`);
  const made = call["function"];
  if (!isJsonObject(made)) return yield missing(`${place}.function`);
  yield* checkName(`${place}.function.name`, made["name"]);
  if (typeof made["arguments"] !== "string") {
    yield invalidType(`${place}.function.arguments`, "a string", made["arguments"]);
  }
}

function* checkPairs(messages: readonly JsonObject[]): RequestCheck {
  let called: string[] = [];
  let unanswered: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message["role"] === "tool") {
      const id = String(message["tool_call_id"]);
      yield* checkToolMessage(id, called, index);
      unanswered = unanswered.filter((other) => other !== id);
      continue;
    }
    yield* checkAnswered(unanswered, index);
    called = toolCallsOf(message).map((call) => String(call["id"]));
    unanswered = called;
  }
  yield* checkAnswered(unanswered, messages.length);
}

function* checkToolMessage(id: string, called: readonly string[], index: number): RequestCheck {
  if (called.length === 0) {
    const message =
      "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
    yield reject(message, { param: `messages.[${index}].role` });
  } else if (!called.includes(id)) {
    const message = `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`;
    yield reject(message, { param: `messages.[${index}].tool_call_id` });
  }
}

function* checkAnswered(unanswered: readonly string[], index: number): RequestCheck {
  if (unanswered.length === 0) return;
  const rule =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  const message = `${rule} The following tool_call_ids did not have response messages: ${unanswered.join(", ")}`;
  yield reject(message, { param: `messages.[${index}].role` });
}
