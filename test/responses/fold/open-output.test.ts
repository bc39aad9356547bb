import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { EmittedItem } from "../../../src/protocol/emitted.ts";
import { createOutputList } from "../../../src/responses/fold/open-output.ts";

const item = (id: string): EmittedItem =>
  ({ type: "function_call", id, call_id: id, name: "f", arguments: "" }) as EmittedItem;
const idsOf = (items: readonly EmittedItem[]): unknown[] => items.map(({ id }) => id);

describe("the output of a response", () => {
  it("numbers its items in the order they come, and keeps an index when an item is replaced", () => {
    const list = createOutputList();
    assert.deepEqual([list.add(item("a")), list.add(item("b"))], [0, 1]);
    list.replace(0, item("a2"));
    assert.deepEqual([idsOf(list.all), list.length], [["a2", "b"], 2]);
  });

  it("shows no abandoned and no unfinished item, and counts both", () => {
    const list = createOutputList();
    for (const id of ["a", "b", "c"]) list.add(item(id));
    list.abandon(0);
    assert.deepEqual(idsOf(list.select(list.all, [2])), ["b"]);
    assert.deepEqual([list.length, list.add(item("d"))], [3, 3]);
  });

  it("leaves out the same items of any list that has them, with others between", () => {
    const property = fc.property(
      fc.array(fc.record({ abandoned: fc.boolean(), open: fc.boolean(), given: fc.nat(2) })),
      (rows) => {
        const list = createOutputList();
        const said: object[] = [];
        const expected: object[] = [];
        for (const [at, { abandoned, open, given }] of rows.entries()) {
          const others = Array.from({ length: given }, () => ({ at }));
          const one = item(`i${at}`);
          list.add(one);
          if (abandoned) list.abandon(at);
          said.push(...others, one);
          expected.push(...others, ...(abandoned || open ? [] : [one]));
        }
        const unfinished = rows.flatMap(({ open }, at) => (open ? [at] : []));
        assert.deepEqual(list.select(said, unfinished), expected);
      },
    );
    fc.assert(property, { numRuns: 100 });
  });
});
