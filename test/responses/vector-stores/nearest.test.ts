import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { findNearest } from "../../../src/responses/vector-stores/nearest.ts";
import type { VectorBlock } from "../../../src/responses/vector-stores/vector-memory.ts";

const LENGTH = 3;
const float = fc.integer({ min: -4, max: 4 }).map((value) => value / 4);
const vectors = fc.array(fc.array(float, { minLength: LENGTH, maxLength: LENGTH }), {
  maxLength: 40,
});

function toBlocks(rows: readonly (readonly number[])[], size: number): VectorBlock[] {
  const blocks: VectorBlock[] = [];
  for (let from = 0; from < rows.length; from += size) {
    const part = rows.slice(from, from + size);
    blocks.push({
      ids: Float64Array.from(part, (_, at) => from + at + 1),
      floats: Float32Array.from(part.flat()),
      length: LENGTH,
    });
  }
  return blocks;
}

async function* each<Value>(values: readonly Value[]): AsyncGenerator<Value> {
  yield* values;
}

describe("the nearest vectors", () => {
  it("are those that comparing and sorting all of them finds", async () => {
    const asked = fc.tuple(
      vectors,
      fc.array(float, { minLength: LENGTH, maxLength: LENGTH }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 7 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(asked, async ([rows, question, count, size, names]) => {
        const wanted = new Set(names);
        const found = await findNearest(each(toBlocks(rows, size)), {
          vector: Float32Array.from(question),
          count,
          names: wanted,
        });
        const all = rows.map((row, at) => {
          const product = row.reduce(
            (sum, value, index) => sum + value * (question[index] ?? 0),
            0,
          );
          return { id: at + 1, likeness: Math.min(1, Math.max(0, product)) };
        });
        const others = all.filter(({ id }) => !wanted.has(id));
        others.sort((a, b) => b.likeness - a.likeness || a.id - b.id);
        assert.deepEqual(found.best, others.slice(0, count));
        const named = all.filter(({ id }) => wanted.has(id));
        assert.deepEqual(
          [...found.named],
          named.map(({ id, likeness }) => [id, likeness]),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("lets other work have its turn while many are compared", async () => {
    const rows = Array.from({ length: 50_000 }, () => [1, 0, 0]);
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const names = new Set<number>();
    const vector = Float32Array.from([1, 0, 0]);
    await findNearest(each(toBlocks(rows, rows.length)), { vector, count: 1, names });
    isOver = true;
    assert.ok(turns >= 2, `${turns} turns`);
  });
});
