/**
 * Finds the chunks whose vectors are most similar to a question's, by comparing all vectors of a store in memory.
 */

import { type Near, type Nearest, toLikeness } from "../../store/chunk-store.ts";
import type { VectorBlock } from "./vector-memory.ts";

interface Asked {
  readonly vector: Float32Array;
  /** The most results. */
  readonly count: number;
  readonly names: { has(id: number): boolean };
}

/** Compared at a time: 20,000 vectors of 256 floats take some milliseconds. */
const COMPARED = 20_000;

export async function findNearest(
  blocks: AsyncIterable<VectorBlock>,
  { vector, count, names }: Asked,
): Promise<Nearest> {
  const best: Near[] = [];
  const named = new Map<number, number>();
  let compared = 0;
  for await (const block of blocks) {
    for (let at = 0; at < block.ids.length; at++) {
      const near = { id: block.ids[at] ?? 0, likeness: compare(block, at, vector) };
      if (names.has(near.id)) named.set(near.id, near.likeness);
      else insert(best, near, count);
      if (++compared % COMPARED === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return { best, named };
}

function compare({ floats, length }: VectorBlock, at: number, vector: Float32Array): number {
  return length === vector.length ? toLikeness(floats, at * length, vector) : 0;
}

function insert(best: Near[], near: Near, count: number): void {
  const last = best[best.length - 1];
  if (best.length === count && last && !isBefore(near, last)) return;
  let place = best.length;
  while (place > 0 && isBefore(near, best[place - 1] as Near)) place--;
  best.splice(place, 0, near);
  if (best.length > count) best.pop();
}

function isBefore(one: Near, other: Near): boolean {
  return one.likeness > other.likeness || (one.likeness === other.likeness && one.id < other.id);
}
