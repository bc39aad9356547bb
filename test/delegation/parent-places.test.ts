/**
 * The places of a tree of processes: a waiting process lends its own, and others are asked for
 * above.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createTurnstile } from "../../src/base/turnstile.ts";
import type { ChildPlaces } from "../../src/delegation/child.ts";
import { createPlaceGrants } from "../../src/delegation/executors/child-process.ts";
import { parsePlaceAsk } from "../../src/delegation/place-line.ts";
import { openParentPlaces } from "../../src/delegation/runner/parent-places.ts";
import { patience, untilTrue } from "../patience.ts";

/** A process below those places: the places for its own children, and its end. */
function startProcess(places: ChildPlaces): { readonly places: ChildPlaces; end(): void } {
  const listeners: ((line: string) => void)[] = [];
  const grants = createPlaceGrants(places, (line) => {
    for (const listener of listeners) listener(line);
  });
  const own = openParentPlaces({
    send: async (frame) => grants.read(parsePlaceAsk(frame) ?? assert.fail()),
    onLine: (listener) => void listeners.push(listener),
  });
  return { places: own, end: grants.stop };
}

/** How many children each process has, level by level. */
type Shape = readonly Shape[];

interface Counted {
  working: number;
  most: number;
  done: number;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Works, then waits for its children, then works again. */
async function live(shape: Shape, places: ChildPlaces, counted: Counted): Promise<void> {
  const work = async (): Promise<void> => {
    counted.working++;
    counted.most = Math.max(counted.most, counted.working);
    await nextTurn();
    counted.working--;
  };
  await work();
  const below = shape.map(async (child) => {
    const leave = await places.enter(patience());
    const process = startProcess(places);
    await live(child, process.places, counted);
    process.end();
    leave();
  });
  await Promise.all(below);
  if (shape.length > 0) await work();
  counted.done++;
}

const chain = (depth: number, width: number): Shape =>
  depth === 0 ? [] : Array.from({ length: width }, () => chain(depth - 1, width));
const sizeOf = (shape: Shape): number => shape.reduce((sum, one) => sum + sizeOf(one), 1);

async function runTree(shape: Shape, most: number): Promise<Counted> {
  const counted = { working: 0, most: 0, done: 0 };
  const places = createTurnstile(most);
  // The root has no process of its own, and works while no other does.
  await live(shape, places, counted);
  assert.deepEqual([places.inside, places.waiting], [0, 0], "every place came back");
  return counted;
}

describe("the places of a tree of processes", () => {
  for (const [depth, width, most] of [
    [4, 1, 1],
    [4, 2, 1],
    [4, 2, 3],
    [3, 4, 8],
  ] as const) {
    it(`are ${most} for ${width} children each, ${depth} levels deep: all run, and never more at once`, async () => {
      const shape = chain(depth, width);
      const { done, most: worked } = await runTree(shape, most);
      assert.equal(done, sizeOf(shape));
      assert.ok(worked <= most, `${worked} worked at once`);
      assert.equal(worked, Math.min(most, width ** depth), "none lies idle");
    });
  }

  it("are enough for trees of any shape, and never too many", async () => {
    const { tree: shapes } = fc.letrec<{ tree: Shape }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constant<Shape>([]),
        fc.array(tie("tree"), { maxLength: 3 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(shapes, fc.integer({ min: 1, max: 5 }), async (shape, most) => {
        const counted = await runTree(shape, most);
        assert.equal(counted.done, sizeOf(shape));
        assert.ok(counted.most <= Math.max(1, most), `${counted.most} of ${most}`);
      }),
      { numRuns: 200 },
    );
  });

  it("come back when a process ends without giving them back, or gives up waiting", async () => {
    const places = createTurnstile(2);
    const leave = await places.enter(patience());
    const process = startProcess(places);
    const own = await process.places.enter(patience());
    await process.places.enter(patience());
    assert.equal(places.inside, 2);
    const over = new AbortController();
    const third = process.places.enter(over.signal);
    await untilTrue(() => places.waiting === 1, "the third waits above");
    over.abort();
    await assert.rejects(third);
    assert.equal(places.waiting, 0);
    process.end();
    own();
    leave();
    assert.equal(places.inside, 0);
  });
});
