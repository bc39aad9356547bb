import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  createFairQueue,
  type FairQueue,
  type LimiterPlace,
} from "../../../src/providers/limits/fair-queue.ts";
import { createTurns } from "./turns.ts";

/** `Ax1` belongs to the tenant A and its run x; without a tenant, as in `x1`, the run is its own. */
const placeOf = (entry: string): LimiterPlace => {
  const [, owner = "", run = ""] = /^([A-Z]?)([a-z])/.exec(entry) ?? [];
  return { owner: owner || run, run: owner + run };
};

const queueOf = (...entries: readonly string[]): FairQueue<string> => {
  const queue = createFairQueue<string>();
  for (const entry of entries) queue.add(placeOf(entry), entry);
  return queue;
};

function takeEach(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let entry = queue.take(); entry; entry = queue.take()) taken.push(entry);
  return taken;
}

describe("the fair queue", () => {
  it("serves runs in turns, and the calls of one in order", () => {
    const queue = queueOf("a1", "a2", "a3", "b1", "b2", "c1");
    assert.equal(queue.size, 6);
    assert.deepEqual(takeEach(queue), ["a1", "b1", "c1", "a2", "b2", "a3"]);
    assert.equal(queue.size, 0);
  });

  it("serves tenants in turns, and the runs of a tenant in its turns", () => {
    const queue = queueOf("Ax1", "Ax2", "Ax3", "Ay1", "Ay2", "Bz1", "Bz2", "c1");
    const taken = ["Ax1", "Bz1", "c1", "Ay1", "Bz2", "Ax2", "Ay2", "Ax3"];
    assert.deepEqual(takeEach(queue), taken);
    assert.equal(queue.size, 0);
  });

  it("puts a run that returns after those that were not served", () => {
    const queue = queueOf("a1", "b1", "c1");
    assert.equal(queue.take(), "a1");
    queue.add(placeOf("a2"), "a2");
    assert.deepEqual(takeEach(queue), ["b1", "c1", "a2"]);
  });

  it("skips entries that were removed, and forgets a run without calls", () => {
    const queue = queueOf("a1", "b1", "b2");
    queue.remove(placeOf("a1"), "a1");
    queue.remove(placeOf("b1"), "b1");
    queue.remove(placeOf("b1"), "b1");
    queue.remove(placeOf("z1"), "z1");
    assert.equal(queue.size, 1);
    queue.add(placeOf("a2"), "a2");
    assert.deepEqual(takeEach(queue), ["b2", "a2"]);
  });

  it("returns all entries at once", () => {
    const queue = queueOf("a1", "a2", "b1");
    assert.deepEqual(queue.takeAll(), ["a1", "a2", "b1"]);
    assert.equal(queue.size, 0);
    assert.equal(queue.take(), undefined);
  });

  const LINE = fc.array(fc.constantFrom("a", "b", "Aa", "Ab", "Ac", "Ba", "Bb"));

  it("counts the entries ahead", () => {
    fc.assert(
      fc.property(LINE, (line) => {
        const entries = line.map((run, index) => `${run}${index}`);
        const queue = queueOf(...entries);
        const ahead = new Map(entries.map((entry) => [entry, queue.ahead(placeOf(entry), entry)]));
        for (const [index, entry] of takeEach(queue).entries()) {
          assert.equal(ahead.get(entry), index);
        }
      }),
    );
  });

  const LEVELS = {
    "serves each of n waiting tenants within n takes": (name: string): LimiterPlace => ({
      owner: name,
      // A new run each time.
      run: Symbol(name),
    }),
    "serves each of n waiting runs of a tenant within n of its takes": (
      name: string,
    ): LimiterPlace => ({
      owner: "tenant",
      run: name,
    }),
  };

  for (const [promise, toPlace] of Object.entries(LEVELS)) {
    it(`${promise}, whatever enters and leaves`, () => {
      const STEP = fc.tuple(fc.constantFrom("add", "add", "take", "remove"), fc.nat(5), fc.nat());
      fc.assert(
        fc.property(fc.array(STEP, { maxLength: 200 }), (steps) => {
          const queue = createFairQueue<Entered>();
          const turns = createTurns();
          const entries: Entered[] = [];
          const act: Record<string, (number: number, index: number) => void> = {
            add(number) {
              const name = `one-${number}`;
              const entry = { name, place: toPlace(name) };
              entries.push(entry);
              queue.add(entry.place, entry);
              turns.enter(name);
            },
            take() {
              const entry = queue.take();
              if (!entry) return;
              entries.splice(entries.indexOf(entry), 1);
              turns.serve(entry.name);
            },
            remove(_, index) {
              const [entry] = entries.splice(index % Math.max(1, entries.length), 1);
              if (!entry) return;
              queue.remove(entry.place, entry);
              turns.leave(entry.name);
            },
          };
          for (const [what, number, index] of steps) {
            act[what]?.(number, index);
            assert.equal(queue.size, entries.length);
          }
        }),
      );
    });
  }
});

interface Entered {
  readonly name: string;
  readonly place: LimiterPlace;
}
