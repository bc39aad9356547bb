/** When things expire, and what is removed then. Every `Shelf` must do this. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Shelf } from "../../src/store/shelf.ts";
import { idsOf, nameOf, newThing, streamOf } from "./shelf-contract.ts";

const LARGE = "x".repeat(300_000);

export function describeExpiry(name: string, open: () => Promise<Shelf>): void {
  describe(`${name}: the expiry of things`, () => {
    it("changes together with a body, or stays", async () => {
      const shelf = await open();
      for (const body of [{ days: 1 }, { days: 1, text: LARGE }]) {
        await shelf.put(newThing("a", { body, expires_at_ms: 1 }));
        const expiry = async (): Promise<number | null | undefined> =>
          (await shelf.get(nameOf("a")))?.expires_at_ms;
        const days = (changed: unknown): number => (changed as { days: number }).days;
        await shelf.change(nameOf("a"), () => ({ ...body, days: 7 }), days);
        assert.equal(await expiry(), 7);
        await shelf.change(
          nameOf("a"),
          () => undefined,
          () => assert.fail(),
        );
        await shelf.change(nameOf("a"), () => ({ ...body, days: 8 }));
        assert.equal(await expiry(), 7);
        await shelf.change(
          nameOf("a"),
          () => body,
          () => null,
        );
        assert.equal(await expiry(), null);
        await shelf.delete(nameOf("a"));
      }
    });

    it("is looked at again when a thing is removed because of it", async () => {
      const shelf = await open();
      const expiries = { past: 5, now: 6, future: 7, never: null };
      for (const [id, expires_at_ms] of Object.entries(expiries)) {
        await shelf.put(newThing(id, { expires_at_ms }));
        await shelf.put(newThing(`${id}/1`, { parent: id }));
        await shelf.writeContent(nameOf(`${id}/1`), streamOf(Buffer.from("bytes")));
      }
      const doomed = Object.keys(expiries).map((id) => ({ ...nameOf(id), expiredBy: 6 }));
      assert.equal(await shelf.removeAll(doomed), 2);
      assert.deepEqual(await idsOf(shelf, {}), ["future", "future/1", "never", "never/1"]);
      assert.equal(await shelf.removeAll(doomed), 0);
    });
  });
}
