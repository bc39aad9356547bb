/** The index of items: of a large request it is written a part at a time. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { indexItems } from "../../../src/responses/references/item-index.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createManualClock } from "../../../src/testing/index.ts";

const RESPONSE = {
  tenant: "tenant",
  kind: "response",
  id: "resp_1",
  parent: null,
  body: null,
  created_at_ms: 1,
  expires_at_ms: null,
};

describe("the index of items", () => {
  it("has all items of a large request, and lets others write between its parts", async () => {
    const shelf = createMemoryShelf();
    const sizes: number[] = [];
    const watched: Pick<typeof shelf, "putUnder"> = {
      putUnder: async (parent, things) => {
        sizes.push(things.length);
        return await shelf.putUnder(parent, things);
      },
    };
    const items = Array.from({ length: 1200 }, (_, at) => ({ id: `msg_${at}` }));
    const home = { tenant: "tenant", parent: "resp_1", kind: "response" } as const;
    await shelf.put(RESPONSE);
    await indexItems({ shelf: watched, clock: createManualClock() }, home, items);
    assert.deepEqual(sizes, [500, 500, 200]);
    const name = { tenant: "tenant", kind: "item", id: "msg_1199" };
    assert.equal((await shelf.get(name))?.parent, "resp_1");
  });

  it("has nothing of a response that is deleted while its items are indexed", async () => {
    const shelf = createMemoryShelf();
    await shelf.put(RESPONSE);
    const deleting: Pick<typeof shelf, "putUnder"> = {
      putUnder: async (parent, things) => {
        const added = await shelf.putUnder(parent, things);
        await shelf.delete(RESPONSE);
        return added;
      },
    };
    const items = Array.from({ length: 1200 }, (_, at) => ({ id: `msg_${at}` }));
    const home = { tenant: "tenant", parent: "resp_1", kind: "response" } as const;
    await indexItems({ shelf: deleting, clock: createManualClock() }, home, items);
    assert.deepEqual([...shelf.names()], []);
  });
});
