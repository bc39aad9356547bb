import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { cutPage, MAX_KEPT, Selection, toPage } from "../../../src/tools/files/ripgrep/page.ts";

describe("Selection", () => {
  it("keeps the same page as sorting everything", () => {
    const keys = fc.uniqueArray(fc.string({ maxLength: 6 }), { maxLength: 4000, size: "max" });
    fc.assert(
      fc.property(keys, fc.nat(3000), fc.nat(50), (names, offset, limit) => {
        const selection = new Selection<undefined>({ offset, limit });
        for (const name of names) selection.add(name, undefined);
        const sorted = names.toSorted((a, b) => (a < b ? -1 : 1));
        const { results, total } = cutPage(sorted, { offset, limit });
        const kept = selection.finish().map(({ key }) => key);
        assert.deepEqual(kept.slice(offset), results);
        assert.equal(selection.total, total);
      }),
      { numRuns: 60 },
    );
  });

  it("a selection keeps only what the page needs", () => {
    const selection = new Selection<undefined>({ offset: 0, limit: 3 });
    for (let at = 9999; at >= 0; at--)
      selection.add(String(at).padStart(4, "0"), undefined, { count: 2 });
    assert.deepEqual(
      selection.finish().map(({ key }) => key),
      ["0000", "0001"],
    );
    assert.equal(selection.total, 20_000);
  });

  it("keeps the beginning of a page that is too large, in any order", () => {
    for (const limit of [0, 1e9]) {
      const selection = new Selection<undefined>({ offset: 0, limit });
      const names = Array.from({ length: 300 }, (_, at) => String((at * 7) % 300).padStart(3, "0"));
      for (const name of names) selection.add(name, undefined, { cost: MAX_KEPT / 100 });
      const kept = selection.finish().map(({ key }) => key);
      assert.deepEqual(kept, names.sort().slice(0, 100));
      assert.equal(selection.total, 300);
    }
  });
});

describe("toPage", () => {
  it("reports a page that has less than it should", () => {
    const note = (offset: number, limit: number) => toPage(["a"], 5, { offset, limit }).note;
    assert.equal(note(0, 1), undefined);
    assert.equal(note(4, 0), undefined);
    assert.equal(note(4, 9), undefined);
    assert.equal(note(0, 0), "Too large: this page has 1 of 5 results. Narrow the search.");
    assert.equal(note(2, 2), "Too large: this page has 1 of 2 results. Narrow the search.");
    assert.ok(!("note" in toPage([], 0, { offset: 3, limit: 0 })));
  });
});
