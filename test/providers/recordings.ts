/** What real servers sent, kept beside the checkout, and how it is given to a decoder. */

import { tryParsePayload } from "../../src/base/json.ts";
import { createSseReader } from "../../src/base/sse.ts";
import type { Item } from "../../src/protocol/items.ts";
import type { ModelEnd, ModelEvent } from "../../src/protocol/model-events.ts";
import type { Decoder } from "../../src/providers/wire.ts";
import { listShared, readShared } from "../protocol/shared-files.ts";

export interface Recording {
  readonly name: string;
  /** One event's JSON each. */
  readonly lines: readonly string[];
}

type WireFolder = "bedrock" | "chat" | "gemini" | "messages" | "responses";

/** Every stream of a wire. */
export function readRecordings(wire: WireFolder): Recording[] {
  const folder = `recordings/${wire}`;
  const names = listShared(folder).filter((name) => name.endsWith(".jsonl"));
  return names.map((name) => {
    const lines = readShared(`${folder}/${name}`).split("\n");
    return { name, lines: lines.filter((line) => line !== "") };
  });
}

/** Every whole answer of a wire, as JSON text. */
export function readWholeAnswers(wire: WireFolder): { name: string; body: string }[] {
  const folder = `recordings/${wire}`;
  const names = listShared(folder).filter((name) => name.endsWith(".json"));
  return names.map((name) => ({ name, body: readShared(`${folder}/${name}`) }));
}

/** The body as it came over the network. */
export function toSseBody(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(""));
}

/** Reads the body in pieces of that many bytes, by default in one. */
export function decodeBody(
  decoder: Decoder,
  body: Uint8Array,
  pieceBytes = body.length,
): ModelEvent[] {
  const events: ModelEvent[] = [];
  const reader = createSseReader((data) => decoder.read(data, events));
  for (let from = 0; from < body.length; from += pieceBytes) {
    reader.push(body.subarray(from, from + pieceBytes));
  }
  reader.end();
  decoder.end(events);
  return events;
}

/** Reads payloads that a test wrote by hand. */
export function decodeAll(
  decoder: Decoder,
  ...payloads: readonly (object | string)[]
): ModelEvent[] {
  const lines = payloads.map((data) => (typeof data === "string" ? data : JSON.stringify(data)));
  return decodeBody(decoder, toSseBody(lines));
}

/** The finished items in the order of their places, between which a server may leave gaps. */
export function itemsOf(events: readonly ModelEvent[]): Item[] {
  const ends = events.filter((event) => event.type === "item_end");
  return ends.sort((a, b) => a.index - b.index).map(({ item }) => item);
}

export function endOf(events: readonly ModelEvent[]): ModelEnd {
  const end = events.at(-1);
  if (end?.type !== "end") throw new Error("The events have no end.");
  return end;
}

/** The response of a stream's first terminal event; one recording holds two answers in a row. */
export function terminalOf({ lines }: Recording): {
  readonly output: readonly Item[];
  readonly id: string;
} {
  for (const line of lines) {
    const event = tryParsePayload(line) as { type?: string; response?: never } | undefined;
    if (event?.type === "response.completed" && event.response) return event.response;
  }
  throw new Error("The recording has no `response.completed`.");
}
