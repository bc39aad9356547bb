/**
 * What every `Shelf` promises for things that are put together. Each implementation calls this from its own test file.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Shelf } from "../../src/store/shelf.ts";
import { newThing } from "./shelf-contract.ts";

/** `openTwo` gives two shelves over one record, like those of two processes; one shelf twice is enough. */
export function describeBatches(
  name: string,
  openTwo: () => Promise<readonly [Shelf, Shelf]>,
): void {
  describe(`${name}: things that are put together`, () => {
    const SIZE = 7;
    const BATCHES = 20;
    const query = { tenant: "tenant", kind: "kind", parent: "p", order: "oldest" } as const;
    const batchOf = (id: string): string => id.split("/")[0] ?? "";

    it("are next to each other and complete, with concurrent writers and readers", async () => {
      const shelves = await openTwo();
      const seen: string[][] = [];
      let isOver = false;
      const looking = shelves.map(async (shelf) => {
        while (!isOver) {
          // In pages, as a conversation is read.
          const ids: string[] = [];
          for (;;) {
            const page = await shelf.list({ ...query, limit: 5, after: ids.at(-1) });
            ids.push(...page.map(({ id }) => id));
            if (page.length < 5) break;
          }
          seen.push(ids);
          await new Promise(setImmediate);
        }
      });
      const putting = Array.from({ length: BATCHES }, async (_, batch) => {
        for (let turn = 0; turn < batch; turn++) await new Promise(setImmediate);
        const things = Array.from({ length: SIZE }, (_, at) =>
          newThing(`${batch}/${at}`, { parent: "p" }),
        );
        await shelves[batch % 2 === 0 ? 0 : 1].putAll(things);
      });
      await Promise.all(putting);
      isOver = true;
      await Promise.all(looking);
      for (const ids of seen) {
        assert.equal(ids.length % SIZE, 0, "no reader sees a part");
        for (let at = 0; at < ids.length; at += SIZE) {
          const batch = ids.slice(at, at + SIZE);
          const expected = batch.map((_, place) => `${batchOf(ids[at] ?? "")}/${place}`);
          assert.deepEqual(batch, expected, "no other stands between");
        }
      }
      const all = await shelves[0].list({ ...query, limit: 1000 });
      assert.equal(all.length, SIZE * BATCHES);
      assert.ok(seen.length > 1);
    });
  });
}
