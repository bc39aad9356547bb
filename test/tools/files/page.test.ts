import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { cutPage, Selection } from "../../../src/tools/files/ripgrep/page.ts";

describe("Selection", () => {
  it("keeps the same page as sorting everything does", () => {
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

  it("keeps no more than the page needs", () => {
    const selection = new Selection<undefined>({ offset: 0, limit: 3 });
    for (let at = 9999; at >= 0; at--) selection.add(String(at).padStart(4, "0"), undefined, 2);
    assert.deepEqual(
      selection.finish().map(({ key }) => key),
      ["0000", "0001"],
    );
    assert.equal(selection.total, 20_000);
  });
});
