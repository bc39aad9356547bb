/** Things that belong to another one, which may be deleted at the same time. Every `Shelf` must do this. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Shelf } from "../../src/store/shelf.ts";
import { idsOf, nameOf, newThing } from "./shelf-contract.ts";

export function describeUnder(name: string, open: () => Promise<Shelf>): void {
  describe(`${name}: things of another one`, () => {
    it("puts things under one that exists, and nothing under one that does not", async () => {
      const shelf = await open();
      const below = ["b", "c"].map((id) => newThing(id, { parent: "a" }));
      assert.equal(await shelf.putUnder(nameOf("a"), below), undefined);
      assert.deepEqual(await idsOf(shelf, {}), []);
      await shelf.put(newThing("a"));
      assert.equal(await shelf.putUnder(nameOf("a"), below.slice(1)), 1);
      assert.equal(await shelf.putUnder(nameOf("a"), below), 1);
      assert.equal(await shelf.putUnder(nameOf("a"), []), 0);
      assert.equal(await shelf.putUnder({ ...nameOf("a"), tenant: "other" }, below), undefined);
      assert.deepEqual(await idsOf(shelf, { parent: "a" }), ["c", "b"]);
    });

    it("leaves nothing under a thing that is deleted at the same time", async () => {
      const shelf = await open();
      for (let round = 0; round < 10; round++) {
        await shelf.put(newThing("a"));
        const put = (id: string) => shelf.putUnder(nameOf("a"), [newThing(id, { parent: "a" })]);
        await Promise.all([put("b"), put("c"), shelf.delete(nameOf("a")), put("d"), put("e")]);
        assert.deepEqual(await idsOf(shelf, {}), []);
      }
    });
  });
}
