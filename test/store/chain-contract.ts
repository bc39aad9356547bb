/** What every `Shelf` must do with chains of things. Each implementation calls this from its own test file. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import type { Shelf } from "../../src/store/shelf.ts";
import { nameOf, newThing } from "./shelf-contract.ts";

export function describeChains(name: string, open: () => Promise<Shelf>): void {
  const chain = { field: "before", beside: "beside" };

  describe(`${name}: a chain of things`, () => {
    it("is read in pages, with what is beside each of them", async () => {
      const shelf = await open();
      const odd = { text: '\0 {"before":"x"}', half: "\ud800", inner: { before: "no_such" } };
      for (const [id, before] of [
        ["a", null],
        ["b", "a"],
        ["c", "b"],
        ["d", "c"],
        ["e", "gone"],
      ] as const) {
        await shelf.put(newThing(id, { body: { before, ...odd } }));
        await shelf.put(newThing(id, { tenant: "other", body: { before: null } }));
      }
      for (const id of ["a", "c"]) await shelf.put(newThing(id, { kind: "beside", body: id }));
      const read = async (id: string, limit: number) =>
        (await shelf.readChain({ ...nameOf(id), ...chain, limit })).map(({ thing, beside }) => [
          thing.id,
          (thing.body as { before: Json }).before,
          beside?.body,
        ]);
      const a = ["a", null, "a"];
      const b = ["b", "a", undefined];
      const c = ["c", "b", "c"];
      const d = ["d", "c", undefined];
      assert.deepEqual(await read("d", 3), [d, c, b]);
      assert.deepEqual(await read("a", 3), [a]);
      assert.deepEqual(await read("d", 10), [d, c, b, a]);
      assert.deepEqual(await read("e", 10), [["e", "gone", undefined]]);
      assert.deepEqual(await read("gone", 10), []);
      const [first] = await shelf.readChain({ ...nameOf("d"), ...chain, limit: 1 });
      assert.deepEqual(first?.thing, await shelf.get(nameOf("d")));
    });

    it("leads through a large body, or ends there", async () => {
      const shelf = await open();
      const body = { before: "a", large: "x".repeat(2_000_000) };
      await shelf.put(newThing("a", { body: { before: null } }));
      await shelf.put(newThing("b", { body }));
      await shelf.put(newThing("c", { body: { before: "b" } }));
      const links = await shelf.readChain({ ...nameOf("c"), ...chain, limit: 10 });
      const ids = links.map(({ thing }) => thing.id);
      assert.ok(ids.length >= 2, `${ids.length} links`);
      assert.deepEqual(ids, ["c", "b", "a"].slice(0, ids.length));
      assert.deepEqual(links[1]?.thing.body, body);
    });
  });
}
