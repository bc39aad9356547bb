/** A record of any size, in the mixture that servers write: logs of many small events, long steps, files, chunks with vectors. */

import type { KeptRecord } from "../../../src/store/kept.ts";
import { nameOf, newThing } from "../shelf-contract.ts";
import { ended, newRun } from "../store-contract.ts";

export interface LargeWish {
  readonly path: string;
  readonly bytes: number;
}

/** Of one round: about this much is written. */
const ROUND_BYTES = 4_000_000;
const PIECE_BYTES = 1_000_000;
const PIECES = 2;
const EVENTS = 2000;
const CHUNKS = 400;

export async function fillLargeRecord(kept: KeptRecord, bytes: number): Promise<void> {
  for (let round = 0; round < Math.ceil(bytes / ROUND_BYTES); round++) {
    await fillRun(kept, round);
    await fillFile(kept, round);
    await fillChunks(kept, round);
  }
}

/** A response of some hundred words that came one by one, and its long answer in the journal. */
async function fillRun(kept: KeptRecord, round: number): Promise<void> {
  const store = await kept.runs();
  const id = `run_${round}`;
  await store.createRun(newRun(id, { input: toNoise(round, 100_000), tenant: "tenant" }));
  await store.claim(id, "worker_1");
  for (let seq = 0; seq < EVENTS; seq += 10) {
    const words = Array.from({ length: 10 }, (_, at) => toNoise(seq + at, 60));
    const events = words.map((message) => ({ type: "notice", code: "retry", message }) as const);
    await store.append(id, 1, seq, events);
  }
  await store.saveStep(id, 1, { key: "model:1", value: toNoise(round + 1, 400_000) });
  await store.finish(id, 1, { ...ended(EVENTS), result: toNoise(round + 2, 20_000) });
}

async function fillFile(kept: KeptRecord, round: number): Promise<void> {
  const shelf = await kept.shelf();
  const name = `file_${round}`;
  await shelf.put(newThing(name, { body: toNoise(round, 3000) }));
  const write = async function* (): AsyncGenerator<Uint8Array> {
    for (let piece = 0; piece < PIECES; piece++) yield toBytes(round * PIECES + piece);
  };
  await shelf.writeContent(nameOf(name), write());
}

async function fillChunks(kept: KeptRecord, round: number): Promise<void> {
  const chunks = await kept.chunks();
  const place = { tenant: "tenant", store: "vs_1", file: `file_${round}` };
  const all = Array.from({ length: CHUNKS }, (_, at) => ({
    text: toNoise(round * CHUNKS + at, 800),
    embedding: { vector: Float32Array.from({ length: 256 }, (_, i) => at / (i + 1)), model: "m" },
  }));
  await chunks.put(place, 0, all);
}

/** Text that no database makes shorter. The same for the same number. */
function toNoise(seed: number, length: number): string {
  return Buffer.from(toBytes(seed, Math.ceil((length * 3) / 4)))
    .toString("base64")
    .slice(0, length);
}

function toBytes(seed: number, length = PIECE_BYTES): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4));
  let state = (seed + 1) * 2_654_435_761;
  for (let at = 0; at < words.length; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[at] = state;
  }
  return new Uint8Array(words.buffer, 0, length);
}
