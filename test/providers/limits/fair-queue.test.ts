import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createFairQueue, type FairQueue } from "../../../src/providers/limits/fair-queue.ts";
import { createTurns } from "./turns.ts";

const queueOf = (...entries: readonly string[]): FairQueue<string> => {
  const queue = createFairQueue<string>();
  for (const entry of entries) queue.add(entry.charAt(0), entry);
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

  it("puts a run that comes back behind those that were not served", () => {
    const queue = queueOf("a1", "b1", "c1");
    assert.equal(queue.take(), "a1");
    queue.add("a", "a2");
    assert.deepEqual(takeEach(queue), ["b1", "c1", "a2"]);
  });

  it("skips who has left, and forgets a run without calls", () => {
    const queue = queueOf("a1", "b1", "b2");
    queue.remove("a", "a1");
    queue.remove("b", "b1");
    queue.remove("b", "b1");
    queue.remove("z", "z1");
    assert.equal(queue.size, 1);
    queue.add("a", "a2");
    assert.deepEqual(takeEach(queue), ["b2", "a2"]);
  });

  it("hands all out at once", () => {
    const queue = queueOf("a1", "a2", "b1");
    assert.deepEqual(queue.takeAll(), ["a1", "a2", "b1"]);
    assert.equal(queue.size, 0);
    assert.equal(queue.take(), undefined);
  });

  const LINE = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.nat()));

  it("knows how many are ahead", () => {
    fc.assert(
      fc.property(LINE, (line) => {
        const entries = line.map(([run], index) => `${run}${index}`);
        const queue = queueOf(...entries);
        const ahead = new Map(entries.map((entry) => [entry, queue.ahead(entry.charAt(0), entry)]));
        for (const [index, entry] of takeEach(queue).entries()) {
          assert.equal(ahead.get(entry), index);
        }
      }),
    );
  });

  it("serves each of n waiting runs within n takes, whoever comes and goes", () => {
    const STEP = fc.tuple(fc.constantFrom("add", "add", "take", "remove"), fc.nat(5), fc.nat());
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 200 }), (steps) => {
        const queue = createFairQueue<{ run: string }>();
        const turns = createTurns();
        const entries: { run: string }[] = [];
        const act: Record<string, (number: number, index: number) => void> = {
          add(number) {
            const entry = { run: `run-${number}` };
            entries.push(entry);
            queue.add(entry.run, entry);
            turns.enter(entry.run);
          },
          take() {
            const entry = queue.take();
            if (!entry) return;
            entries.splice(entries.indexOf(entry), 1);
            turns.serve(entry.run);
          },
          remove(_, index) {
            const [entry] = entries.splice(index % Math.max(1, entries.length), 1);
            if (!entry) return;
            queue.remove(entry.run, entry);
            turns.leave(entry.run);
          },
        };
        for (const [what, number, index] of steps) {
          act[what]?.(number, index);
          assert.equal(queue.size, entries.length);
        }
      }),
    );
  });
});
