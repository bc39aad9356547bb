/** The index of items: of a large request it is written a part at a time. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { indexItems } from "../../../src/responses/references/item-index.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createManualClock } from "../../../src/testing/index.ts";

describe("the index of items", () => {
  it("has all items of a large request, and lets others write between its parts", async () => {
    const shelf = createMemoryShelf();
    const sizes: number[] = [];
    const watched: typeof shelf = {
      ...shelf,
      putAll: async (things) => {
        sizes.push(things.length);
        await shelf.putAll(things);
      },
    };
    const items = Array.from({ length: 1200 }, (_, at) => ({ id: `msg_${at}` }));
    const home = { tenant: "tenant", parent: "resp_1", kind: "response" } as const;
    await indexItems({ shelf: watched, clock: createManualClock() }, home, items);
    assert.deepEqual(sizes, [500, 500, 200]);
    const name = { tenant: "tenant", kind: "item", id: "msg_1199" };
    assert.equal((await shelf.get(name))?.parent, "resp_1");
  });
});
