/**
 * Finds what may fill a schema in a request that no intent understands. There are two cases: the request
 * asks for an extraction or a conversion in one of the known forms, or it is nothing but data. Every other
 * request, in any language, asks for something that only a language model could answer, and is not used.
 */

import { isJsonObject, type Json, type JsonObject } from "../../../base/json.ts";
import type { EmbeddedConversation } from "../conversation.ts";
import { splitMessage } from "../prompt.ts";
import { type Material, toPlainKey } from "./evidence.ts";
import { readExtraction } from "./extraction.ts";
import { toWholeData, type WholeData } from "./whole-data.ts";

/** `schema` is missing if any object will do. Undefined if nothing may be filled from the request. */
export function findGiven(
  conversation: EmbeddedConversation,
  schema?: JsonObject,
): Material | undefined {
  const { order = "", asked, attachments, earlier } = conversation;
  const inline = readExtraction(order);
  if (inline === undefined) return findBareData(conversation, schema);
  const { files, after } = splitMessage(asked[0] ?? "");
  const attached = attachments.flatMap(({ text }) => text ?? []);
  return sortMaterial([inline, after, ...files, ...attached, ...[...earlier].reverse()]);
}

export function sortMaterial(texts: readonly string[]): Material {
  const sorted = texts
    .filter((text) => text.trim() !== "")
    .map((text) => ({ text, data: toWholeData(text) }));
  return {
    documents: sorted.flatMap(({ data }) => (data ? [data.value] : [])),
    prose: sorted.flatMap(({ text, data }) => (data ? [] : [text])),
  };
}

/**
 * The input, if it is one text and nothing but data. A prompt beside other input is a request, however much
 * it looks like data: "gate: deploy or not".
 */
function findBareData(
  { asked, attachments }: EmbeddedConversation,
  schema: JsonObject | undefined,
): Material | undefined {
  const texts = asked.filter((text) => text.trim() !== "");
  const [only = ""] = texts;
  const data = texts.length + attachments.length === 1 ? toWholeData(only) : undefined;
  return data && isMeant(data, schema) ? { documents: [data.value], prose: [] } : undefined;
}

/**
 * "Verdict: approved" may be a request. It is data if the schema has a `verdict`, or if there are more
 * pairs.
 */
function isMeant({ kind, value }: WholeData, schema: JsonObject | undefined): boolean {
  const names = Object.keys((Array.isArray(value) ? value[0] : value) ?? {}).map(toPlainKey);
  if (kind === "document") return true;
  if (!schema) return names.length > 1;
  const keys = new Set([...keysIn(schema)].map(toPlainKey));
  const isKey = (name: string): boolean => keys.has(name);
  return kind === "pairs" ? names.every(isKey) : names.some(isKey);
}

/** The names of all properties, at any depth. */
function* keysIn(schema: Json | undefined): Generator<string> {
  if (Array.isArray(schema)) for (const part of schema) yield* keysIn(part);
  if (!isJsonObject(schema)) return;
  const { properties } = schema;
  if (isJsonObject(properties)) yield* Object.keys(properties);
  for (const part of Object.values(schema)) yield* keysIn(part);
}
