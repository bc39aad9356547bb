/**
 * The parts of an answer as if written in one piece: what must come back as history. It is slow, and shares
 * no code with the decoder.
 */

import type { Json, JsonObject } from "../../../src/base/json.ts";

/** The part of an event that a test reads. */
export interface SentChunk {
  readonly candidates?: readonly {
    readonly content?: { readonly parts?: readonly JsonObject[] };
  }[];
  readonly usageMetadata?: { readonly totalTokenCount?: number };
  readonly modelVersion?: string;
}

type OpenPart = Record<string, Json | undefined>;

export function expectedParts(chunks: readonly SentChunk[]): JsonObject[] {
  const parts: OpenPart[] = [];
  for (const { candidates } of chunks) {
    for (const part of candidates?.[0]?.content?.parts ?? []) {
      if ("functionCall" in part) addCall(parts, part);
      else if ("text" in part) addText(parts, part);
      else parts.push(part);
    }
  }
  return parts;
}

/** Unsigned text continues the unsigned text before it. */
function addText(parts: OpenPart[], part: JsonObject): void {
  const { text, thought, thoughtSignature } = part;
  const last = parts.at(-1);
  if (text === "" && !thoughtSignature) return;
  const isMore = last?.["text"] && last["thought"] === thought && !last["thoughtSignature"];
  if (isMore && !thoughtSignature) last["text"] = `${String(last["text"])}${String(text)}`;
  else parts.push({ ...part });
}

interface SentCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: JsonObject;
  readonly partialArgs?: readonly JsonObject[];
}

/** A call without a name is another piece of the call before it, and may have its signature. */
function addCall(parts: OpenPart[], { functionCall, ...signed }: JsonObject): void {
  const { id, name, args = {}, partialArgs = [] } = functionCall as SentCall;
  if (name) parts.push({ functionCall: { ...(id && { id }), name, args: { ...args } } });
  const part = Object.assign(parts.at(-1) ?? {}, signed);
  const call = part["functionCall"] as { readonly args: Record<string, never> };
  for (const partial of partialArgs) addArgument(call.args, partial);
}

function addArgument(args: Record<string, never>, { jsonPath, ...value }: JsonObject): void {
  // `$.a.b[0].c` as `["a", "b", "0", "c"]`.
  const path = String(jsonPath)
    .slice(2)
    .split(/[.[\]]+/)
    .filter(Boolean);
  const last = path.pop() ?? "";
  let at = args;
  for (const [depth, key] of path.entries()) {
    at[key] ??= (/^\d+$/.test(path[depth + 1] ?? last) ? [] : {}) as never;
    at = at[key] ?? at;
  }
  at[last] = readValue(value, at[last]) as never;
}

function readValue(partial: JsonObject, before: string | undefined): Json | undefined {
  const { stringValue, numberValue, boolValue } = partial;
  if ("nullValue" in partial) return null;
  return numberValue ?? boolValue ?? `${before ?? ""}${String(stringValue)}`;
}
