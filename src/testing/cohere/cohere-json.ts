/** Reads a body of Cohere's API: missing and wrong values are read as empty. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { type CohereCheck, unknownField } from "./cohere-rejection.ts";

export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The parts of a message, whose text may be a plain string. */
export function partsOf({ content }: JsonObject): readonly JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return objectsIn(content);
}

export function* checkFields(value: JsonObject, known: readonly string[]): CohereCheck {
  for (const name of Object.keys(value)) if (!known.includes(name)) yield unknownField(name);
}
