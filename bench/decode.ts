/**
 * In memory: bytes of a stream to model events, against `JSON.parse` alone over the same payloads;
 * and the reader of server-sent events against the `eventsource-parser` package if it is installed.
 *
 *     npm run bench:decode [-- --check]
 */

import { createSseReader } from "../src/base/sse.ts";
import type { ModelEvent } from "../src/protocol/model-events.ts";
import { chatWire } from "../src/providers/chat/wire.ts";
import { responsesWire } from "../src/providers/responses/wire.ts";
import type { Wire } from "../src/providers/wire.ts";
import { type Comparison, type Contender, measureCpu, runBench } from "./measure.ts";
import { MODEL_REQUEST } from "./model-request.ts";
import { makeStream, readRecordings, type Stream, type WireName } from "./streams.ts";

/**
 * Events of one turn: enough that the clock's resolution and one garbage collection do not matter.
 */
const EVENTS = 100_000;
const ROUNDS = 7;

/** What a read of the network brings when a model is quick, and when it is not. */
const CHUNK_SIZES = { "16 KB chunks": 16 * 1024, "a chunk for each event": 0 } as const;

const WIRES: Readonly<Record<WireName, Wire>> = { chat: chatWire, responses: responsesWire };

const LIMITS = { decoding: 2, reading: 1 };

/** A stream cut into chunks, and how often it is read in one turn. */
interface Load {
  readonly streams: readonly { payloads: readonly string[]; chunks: readonly Uint8Array[] }[];
  readonly repeats: number;
  readonly events: number;
}

await runBench([...decodings(), ...(await readings())]);

function decodings(): Comparison[] {
  const wires = Object.keys(WIRES) as WireName[];
  return wires.flatMap((wire) =>
    loadsOf(wire).map(({ title, load }) => ({
      title,
      unit: "µs/event",
      rounds: ROUNDS,
      contenders: [
        toContender("JSON.parse", load, parseAll),
        toContender("offshoot", load, () => decodeAll(WIRES[wire], load)),
      ],
      limits: [{ subject: "offshoot", baseline: "JSON.parse", atMost: LIMITS.decoding }],
    })),
  );
}

/** Both sides pass on the payload and the event's name, and do nothing with them. */
async function readings(): Promise<Comparison[]> {
  const createParser = await loadParser();
  if (!createParser) return [];
  return loadsOf("responses").map(({ title, load }) => ({
    title: `reader alone: ${title}`,
    unit: "µs/event",
    rounds: ROUNDS,
    contenders: [
      toContender("eventsource-parser", load, () => readAllWith(createParser, load)),
      toContender("offshoot", load, () => readAll(load)),
    ],
    limits: [{ subject: "offshoot", baseline: "eventsource-parser", atMost: LIMITS.reading }],
  }));
}

function loadsOf(wire: WireName): { title: string; load: Load }[] {
  const sources = { made: [makeStream(wire, 1024)], recorded: readRecordings(wire) };
  return Object.entries(sources)
    .filter(([, streams]) => streams.length > 0)
    .flatMap(([source, streams]) =>
      Object.entries(CHUNK_SIZES).map(([cut, bytes]) => ({
        title: `${wire}, ${source}, ${cut}`,
        load: toLoad(streams, bytes),
      })),
    );
}

/** `chunkBytes` 0: a chunk for each event. */
function toLoad(streams: readonly Stream[], chunkBytes: number): Load {
  const once = streams.reduce((sum, { payloads }) => sum + payloads.length, 0);
  const repeats = Math.max(1, Math.round(EVENTS / once));
  const cut = streams.map(({ payloads, frames }) => ({
    payloads,
    chunks: chunkBytes === 0 ? frames : cutInto(Buffer.concat(frames), chunkBytes),
  }));
  return { streams: cut, repeats, events: once * repeats };
}

function cutInto(body: Buffer, bytes: number): Buffer[] {
  const pieces = Math.ceil(body.length / bytes);
  return Array.from({ length: pieces }, (_, at) => body.subarray(at * bytes, (at + 1) * bytes));
}

function toContender(name: string, load: Load, work: (load: Load) => void): Contender {
  return { name, measure: () => measureCpu(() => work(load)) / load.events };
}

function parseAll({ streams, repeats }: Load): void {
  for (let time = 0; time < repeats; time++) {
    for (const { payloads } of streams) {
      for (const payload of payloads) if (payload !== "[DONE]") JSON.parse(payload);
    }
  }
}

/** As in the HTTP provider: one batch of events for each chunk. */
function decodeAll(wire: Wire, { streams, repeats }: Load): void {
  for (let time = 0; time < repeats; time++) {
    for (const { chunks } of streams) decode(wire, chunks);
  }
}

function decode(wire: Wire, chunks: readonly Uint8Array[]): void {
  const decoder = wire.decoder(MODEL_REQUEST, {});
  let batch: ModelEvent[] = [];
  const reader = createSseReader((data) => decoder.read(data, batch));
  for (const chunk of chunks) {
    reader.push(chunk);
    batch = [];
  }
  reader.end();
  decoder.end(batch);
}

function readAll({ streams, repeats }: Load): void {
  for (let time = 0; time < repeats; time++) {
    for (const { chunks } of streams) {
      const reader = createSseReader(() => {});
      for (const chunk of chunks) reader.push(chunk);
      reader.end();
    }
  }
}

/** The package takes text, so its users decode the bytes as we do inside. */
function readAllWith(createParser: CreateParser, { streams, repeats }: Load): void {
  for (let time = 0; time < repeats; time++) {
    for (const { chunks } of streams) {
      const parser = createParser({ onEvent: () => {} });
      const decoder = new TextDecoder();
      for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
      parser.feed(decoder.decode());
    }
  }
}

type CreateParser = (handlers: { onEvent: (event: unknown) => void }) => {
  feed(text: string): void;
};

/** Not a dependency of ours; it is installed with a package that the benches compare with. */
async function loadParser(): Promise<CreateParser | undefined> {
  const name = "eventsource-parser";
  try {
    return ((await import(name)) as { createParser: CreateParser }).createParser;
  } catch {
    // Not installed: the comparison is left out.
    return undefined;
  }
}
