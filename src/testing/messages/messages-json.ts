/** Reads a body of the Messages API: missing and wrong values are read as empty. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";

export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The blocks of a message, whose text may be a plain string. */
export function blocksOf(message: JsonObject | undefined): readonly JsonObject[] {
  const content = message?.["content"];
  return typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
}

export function typed(blocks: readonly JsonObject[], type: string): JsonObject[] {
  return blocks.filter((block) => block["type"] === type);
}

export function isThought({ type }: JsonObject): boolean {
  return type === "thinking" || type === "redacted_thinking";
}
