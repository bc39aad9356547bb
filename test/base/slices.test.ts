/** Long work of several owners: one slice for each turn of the loop, and every owner gets its share. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSlices } from "../../src/base/slices.ts";
import { nextTurn } from "../../src/base/turn.ts";

/** Takes a number of slices, and notes each. */
async function work(owner: string, count: number, seen: string[]): Promise<void> {
  const slices = createSlices(owner);
  for (let slice = 0; slice < count; slice++) {
    await slices.next();
    seen.push(owner);
  }
}

describe("slices of long work", () => {
  it("come one for each turn of the event loop, however many jobs there are", async () => {
    const seen: string[] = [];
    const all = Array.from({ length: 10 }, (_, job) => work(`owner ${job}`, 1, seen));
    for (let turn = 1; turn <= 9; turn++) {
      await nextTurn();
      assert.ok(seen.length <= turn, `${seen.length} slices in ${turn} turns`);
    }
    await Promise.all(all);
    assert.equal(seen.length, 10);
  });

  it("go round the owners: many jobs of one delay the only job of another by one slice each", async () => {
    const seen: string[] = [];
    const many = Array.from({ length: 20 }, () => work("many", 2, seen));
    const one = work("one", 3, seen);
    await one;
    assert.equal(seen.filter((owner) => owner === "one").length, 3);
    assert.ok(seen.length <= 7, `${seen.length} slices before the only job was done`);
    await Promise.all(many);
  });

  it("end after a while, but not before the first piece of work", async () => {
    const slices = createSlices("owner");
    assert.equal(slices.isOver(), true);
    await slices.next();
    while (!slices.isOver());
    await slices.next();
  });
});
