/** How every `Shelf` counts what a tenant stores. Each implementation calls this from its own test file. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Shelf } from "../../src/store/shelf.ts";
import { nameOf, newThing, streamOf } from "./shelf-contract.ts";

const MEGABYTE = 1024 * 1024;

export function describeStorage(name: string, open: () => Promise<Shelf>): void {
  describe(`${name}: the storage of a tenant`, () => {
    const body = (length: number): string => "ä".repeat((length - 2) / 2);

    it("counts the bodies and the bytes, only of this tenant", async () => {
      const shelf = await open();
      assert.equal(await shelf.countBytes("tenant"), 0);
      await shelf.put(newThing("a", { body: body(10) }));
      assert.equal(await shelf.put(newThing("a", { body: body(1000) })), false);
      await shelf.putAll([newThing("b", { body: body(20) }), newThing("a", { body: body(500) })]);
      await shelf.put(newThing("c", { tenant: "other", body: body(400) }));
      assert.equal(await shelf.countBytes("tenant"), 30);
      await shelf.update(nameOf("a"), body(60));
      await shelf.change(nameOf("b"), () => body(40));
      assert.equal(await shelf.countBytes("tenant"), 100);
      await shelf.writeContent(nameOf("a"), streamOf(Buffer.alloc(3 * MEGABYTE)));
      assert.equal(await shelf.countBytes("tenant"), 100 + 3 * MEGABYTE);
      await shelf.writeContent(nameOf("a"), streamOf(Buffer.alloc(1000)));
      assert.equal(await shelf.countBytes("tenant"), 1100);
      await shelf.setExpiry(nameOf("a"), 5);
      await shelf.delete(nameOf("a"));
      assert.deepEqual(
        [await shelf.countBytes("tenant"), await shelf.countBytes("other")],
        [40, 400],
      );
      await assert.doesNotReject(shelf.checkRoom("tenant", body(MEGABYTE)));
    });

    it("shrinks with what is removed, and does not count interrupted uploads", async () => {
      const shelf = await open();
      await shelf.put(newThing("a"));
      await shelf.put(newThing("b", { parent: "a", body: body(50) }));
      await shelf.writeContent(nameOf("b"), streamOf(Buffer.alloc(2 * MEGABYTE)));
      const before = await shelf.countBytes("tenant");
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield Buffer.alloc(3 * MEGABYTE);
        throw new Error("Broken.");
      }
      await assert.rejects(shelf.writeContent(nameOf("a"), broken()));
      assert.equal(await shelf.countBytes("tenant"), before);
      await shelf.delete(nameOf("a"));
      assert.equal(await shelf.countBytes("tenant"), 0);
    });
  });
}
