/**
 * Streams and whole answers of every wire, and helpers that pass them to a decoder. The project's own are
 * in `<wire>/streams/`: written by hand in the forms that vendors send, one for each behaviour. Folders of
 * recordings from real servers have the same form, so one suite reads both.
 */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { tryParsePayload } from "../../src/base/json.ts";
import { createSseReader } from "../../src/base/sse.ts";
import type { Item } from "../../src/protocol/items.ts";
import type { ModelEnd, ModelEvent } from "../../src/protocol/model-events.ts";
import type { Decoder } from "../../src/providers/wire.ts";

export interface Stream {
  /** Its file: `calls-joined-by-index.jsonl`. */
  readonly name: string;
  /** The JSON of one event each. */
  readonly lines: readonly string[];
}

export interface WholeAnswer {
  readonly name: string;
  /** JSON text. */
  readonly body: string;
}

export interface StreamFolder {
  readonly streams: readonly Stream[];
  readonly answers: readonly WholeAnswer[];
}

export type WireFolder =
  | "bedrock"
  | "chat"
  | "cohere"
  | "gemini"
  | "messages"
  | "ollama"
  | "responses";

/** The streams that are part of the project. */
export function readOwnStreams(wire: WireFolder): StreamFolder {
  // From build/test/providers/ to the sources: the compiler copies no data.
  return readFolder(
    fileURLToPath(new URL(`../../../test/providers/${wire}/streams/`, import.meta.url)),
  );
}

/** Every `.jsonl` of a folder is a stream, every `.json` an answer that was not streamed. */
export function readFolder(folder: string): StreamFolder {
  const names = readdirSync(folder).sort();
  const read = (name: string) => readFileSync(`${folder}/${name}`, "utf8");
  return {
    streams: names
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => ({
        name,
        lines: read(name)
          .split("\n")
          .filter((line) => line !== ""),
      })),
    answers: names
      .filter((name) => name.endsWith(".json"))
      .map((name) => ({ name, body: read(name) })),
  };
}

/** The body in the form of the network. */
export function toSseBody(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(""));
}

/** Reads the body in pieces of that many bytes; in one piece by default. */
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

/** The finished items in the order of their indexes, which a server may number with gaps. */
export function itemsOf(events: readonly ModelEvent[]): Item[] {
  const ends = events.filter((event) => event.type === "item_end");
  return ends.sort((a, b) => a.index - b.index).map(({ item }) => item);
}

export function endOf(events: readonly ModelEvent[]): ModelEnd {
  const end = events.at(-1);
  if (end?.type !== "end") throw new Error("The events have no end.");
  return end;
}

/** The response of a stream's first terminal event; some have two answers in a row. */
export function terminalOf({ lines }: Stream): {
  readonly output: readonly Item[];
  readonly id: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
} {
  for (const line of lines) {
    const event = tryParsePayload(line) as { type?: string; response?: never } | undefined;
    if (event?.type === "response.completed" && event.response) return event.response;
  }
  throw new Error("The stream has no `response.completed`.");
}
