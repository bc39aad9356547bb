import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readItemPage } from "../../../src/responses/conversations/item-page.ts";
import type { Paging } from "../../../src/responses/tenant/paging.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import type { ThingQuery } from "../../../src/store/shelf.ts";

const among = { tenant: "t", kind: "item", parent: "c" };

/** Items of 100 characters each, except those with another size. */
async function createBench(count: number, sizes: Readonly<Record<number, number>> = {}) {
  const shelf = createMemoryShelf();
  for (let at = 0; at < count; at++) {
    const body = "x".repeat((sizes[at] ?? 100) - 2);
    const rest = { created_at_ms: 0, expires_at_ms: null };
    await shelf.put({ ...among, ...rest, id: `i${at}`, body });
  }
  let rows = 0;
  const list = async (query: ThingQuery) => {
    const things = await shelf.list(query);
    rows += things.length;
    return things;
  };
  const page = (paging: Partial<Paging>) =>
    readItemPage(
      { shelf: { list }, maxChars: 1000 },
      among,
      { limit: 20, order: "asc", after: undefined, before: undefined, ...paging },
      ({ id }) => ({ id }),
    );
  return { page, rows: () => rows };
}

const idsOf = ({ data }: { readonly data: readonly { readonly id: string }[] }): string =>
  data.map(({ id }) => id.slice(1)).join(" ");

describe("a page of items", () => {
  it("ends when it is large enough, and the next one continues there", async () => {
    const { page } = await createBench(25);
    const seen: string[] = [];
    let after: string | undefined;
    for (let more = true; more; ) {
      const one = await page({ after });
      assert.equal(one.first_id, one.data[0]?.id);
      seen.push(idsOf(one));
      after = one.last_id;
      more = one.has_more;
    }
    assert.deepEqual(seen, [
      "0 1 2 3 4 5 6 7 8 9",
      "10 11 12 13 14 15 16 17 18 19",
      "20 21 22 23 24",
    ]);
  });

  it("has one item at least, however large", async () => {
    const { page } = await createBench(3, { 0: 5000, 1: 5000 });
    const first = await page({});
    assert.deepEqual([idsOf(first), first.has_more], ["0", true]);
    const second = await page({ after: "i0" });
    assert.deepEqual([idsOf(second), second.has_more], ["1", true]);
    const third = await page({ after: "i1" });
    assert.deepEqual([idsOf(third), third.has_more], ["2", false]);
  });

  it("is counted where its items are small", async () => {
    const { page } = await createBench(9, {});
    for (const [paging, ids, more] of [
      [{ limit: 5 }, "0 1 2 3 4", true],
      [{ limit: 9 }, "0 1 2 3 4 5 6 7 8", false],
      [{ order: "desc", limit: 2, after: "i7" }, "6 5", true],
      [{ after: "i1", before: "i4" }, "2 3", false],
      [{ after: "nothing" }, "", false],
    ] as const) {
      const one = await page(paging);
      assert.deepEqual([idsOf(one), one.has_more], [ids, more], JSON.stringify(paging));
    }
  });

  it("is read from its end on request", async () => {
    const { page } = await createBench(25, { 15: 900 });
    const some = await page({ before: "i20", limit: 3 });
    assert.deepEqual([idsOf(some), some.has_more], ["17 18 19", true]);
    const cut = await page({ before: "i20" });
    assert.deepEqual([idsOf(cut), cut.has_more], ["16 17 18 19", true]);
  });

  it("reads little more than it shows", async () => {
    const { page, rows } = await createBench(100, { 0: 5000, 1: 5000 });
    await page({ limit: 100 });
    assert.ok(rows() <= 4, String(rows()));
  });
});
