/** Who is written together with whom. Real time passes here as it does; nothing depends on how much. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createWriteLine, type Durability } from "../../src/store/sqlite/write-line.ts";

function createLine() {
  const groups: Durability[] = [];
  let inside = 0;
  const sizes: number[] = [];
  const write = createWriteLine({
    clock: systemClock,
    transact(durability, work) {
      groups.push(durability);
      inside = 0;
      const value = work();
      sizes.push(Math.max(inside, 1));
      return value;
    },
    attempt(work) {
      inside++;
      return { value: work() };
    },
  });
  return { write, groups, sizes };
}

describe("the line of writers", () => {
  it("writes one that comes alone at once", async () => {
    const { write, groups } = createLine();
    const done = write("process", () => 7);
    assert.deepEqual(groups, ["process"]);
    assert.equal(await done, 7);
  });

  it("writes those together that keep coming one by one, and all of them", async () => {
    const { write, groups } = createLine();
    const tokens = 400;
    const written: Promise<number>[] = [];
    for (let at = 0; at < tokens; at++) {
      written.push(write("process", () => at));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(
      await Promise.all(written),
      written.map((_, at) => at),
    );
    assert.ok(groups.length < tokens, `${groups.length} transactions`);
  });

  it("does not let one that the disk is waited for wait for tokens", async () => {
    const { write, groups } = createLine();
    const order: string[] = [];
    const tokens = Array.from({ length: 100 }, async (_, at) => {
      for (let turn = 0; turn < at; turn++) await new Promise((resolve) => setImmediate(resolve));
      await write("process", () => order.push("token"));
    });
    await Promise.all(tokens);
    const last = write("process", () => order.push("last token"));
    await write("power", () => order.push("power"));
    // It went with the token before it, and overtook nobody.
    assert.deepEqual(order.slice(-2), ["last token", "power"]);
    assert.equal(groups.at(-1), "power");
    await last;
  });
});
