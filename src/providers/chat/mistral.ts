/**
 * Changes conversations of other vendors to what Mistral's API accepts. Its models have the same rules on
 * other servers, because their templates enforce them.
 */

import { createHash } from "node:crypto";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

const FAMILY =
  /(?:^|[/._-])(?:mistral|magistral|devstral|ministral|codestral|pixtral|mixtral|voxtral)/i;

export function isMistral(model: string): boolean {
  return FAMILY.test(model);
}

/** The messages in the form that these models accept, on every server. */
export function toMistralMessages(messages: readonly JsonObject[]): JsonObject[] {
  return messages.flatMap((message, at) => {
    const isBehindTool = messages[at - 1]?.["role"] === "tool";
    const renamed = rename(message);
    // A user message may not follow directly after a tool message.
    return isBehindTool && message["role"] === "user" ? [HEARD, renamed] : [renamed];
  });
}

const HEARD: JsonObject = { role: "assistant", content: "I have the results." };

function rename(message: JsonObject): JsonObject {
  const { tool_calls, tool_call_id } = message;
  if (typeof tool_call_id === "string") {
    return { ...message, tool_call_id: toMistralId(tool_call_id) };
  }
  if (!Array.isArray(tool_calls)) return message;
  const calls = (tool_calls as readonly JsonObject[]).map((call) => ({
    ...call,
    id: toMistralId(String(call["id"])),
  }));
  return { ...message, tool_calls: calls };
}

const ID = /^[A-Za-z0-9]{9}$/;

/** Nine letters and digits. An id of another vendor always becomes the same id. */
function toMistralId(id: string): string {
  if (ID.test(id)) return id;
  const digits = BigInt(`0x${createHash("sha256").update(id).digest("hex")}`).toString(36);
  return digits.slice(-9).padStart(9, "0");
}

/** Forms of the vendor's own API: reasoning is a part of a message, and PDFs have a part type of their own. */
export function toMistralParts(message: JsonObject): JsonObject {
  const { content, reasoning_content: thought, ...rest } = message;
  if (typeof thought === "string") {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: thought }] };
    const said = typeof content === "string" && content !== "" ? [toText(content)] : [];
    return { ...rest, content: [thinking, ...said] };
  }
  if (!Array.isArray(content)) return message;
  return { ...message, content: content.map(toMistralPart) };
}

function toText(text: string): JsonObject {
  return { type: "text", text };
}

function toMistralPart(part: Json): Json {
  if (!isJsonObject(part) || part["type"] !== "file" || !isJsonObject(part["file"])) return part;
  const { file_data, filename } = part["file"];
  if (typeof file_data !== "string") return part;
  return {
    type: "document_url",
    document_url: file_data,
    ...(filename !== undefined && { document_name: filename }),
  };
}
