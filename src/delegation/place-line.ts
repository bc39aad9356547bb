/**
 * How a run in a process of its own asks for a place for a process of its own child: a frame of its standard output,
 * answered by a line on its standard input. A second frame with the same number returns the place.
 */

import { isJsonObject, type JsonObject, tryParseJson } from "../base/json.ts";

/** The name of the frame. */
export const PLACE = "subagent_place";

export interface PlaceAsk {
  readonly ask: number;
  /** True if the place is no longer needed. */
  readonly isDone: boolean;
}

export function encodePlaceAsk({ ask, isDone }: PlaceAsk): JsonObject {
  return { type: PLACE, ask, ...(isDone ? { done: true } : {}) };
}

export function parsePlaceAsk({ ask, done }: JsonObject): PlaceAsk | undefined {
  return typeof ask === "number" ? { ask, isDone: done === true } : undefined;
}

export function encodePlace(ask: number): string {
  return JSON.stringify({ type: PLACE, ask });
}

/** Undefined for a line that is something else. */
export function parsePlace(line: string): { readonly ask: number } | undefined {
  const given = tryParseJson(line);
  if (!isJsonObject(given) || given["type"] !== PLACE) return undefined;
  const { ask } = given;
  return typeof ask === "number" ? { ask } : undefined;
}
