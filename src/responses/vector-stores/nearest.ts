/**
 * The chunks whose vectors are most like a question's. How alike is the product of two vectors of length 1,
 * and 0 for what points away.
 */

import type { VectorBlock } from "./vector-memory.ts";

export interface Near {
  readonly id: number;
  readonly likeness: number;
}

export interface Nearest {
  /** The best first; of equals the one with the lower number. */
  readonly best: readonly Near[];
  /** Those that were asked for by their numbers, however alike they are. */
  readonly named: ReadonlyMap<number, number>;
}

interface Asked {
  readonly vector: Float32Array;
  /** How many of the best are wanted. */
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

/** At most 1: sums of floats may come out a little higher. */
function compare({ floats, length }: VectorBlock, at: number, vector: Float32Array): number {
  if (length !== vector.length) return 0;
  const from = at * length;
  let sum = 0;
  for (let index = 0; index < length; index++) {
    sum += (floats[from + index] ?? 0) * (vector[index] ?? 0);
  }
  return Math.min(1, Math.max(0, sum));
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
