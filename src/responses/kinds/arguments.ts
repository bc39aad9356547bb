/**
 * Reads the arguments of a model's call without trust: they may not be JSON, or have other fields.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { FunctionCall } from "../../protocol/items.ts";

export function readArguments(text: string): JsonObject {
  const parsed = tryParseJson(text);
  return isJsonObject(parsed) ? parsed : {};
}

export function readText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** A single text counts as a list of one. */
export function readTexts(value: Json | undefined): string[] {
  const values = Array.isArray(value) ? (value as readonly Json[]) : [value];
  return values.filter((one) => typeof one === "string");
}

/** Null if it is not a number of that kind. */
export function readCount(value: Json | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** For a call that the client makes: the model has begun it, or written all of it. */
export function statusOf({ arguments: text, status }: FunctionCall): "in_progress" | "completed" {
  return text === "" && status !== "completed" ? "in_progress" : "completed";
}
