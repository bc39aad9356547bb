import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { clipRow, paintRow, textOf, widthOfRow, wrapPieces } from "../../../src/cli/screen/rows.ts";

const wrap = (text: string, columns: number): string[] =>
  wrapPieces([{ text, pen: "" }], { columns }).map(({ row }) => textOf(row));

describe("rows", () => {
  it("break at blanks, and in a word only where it is wider than a row", () => {
    assert.deepEqual(wrap("one two three", 8), ["one two", "three"]);
    assert.deepEqual(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
    assert.deepEqual(wrap("漢字漢字", 5), ["漢字", "漢字"]);
    assert.deepEqual(wrap("", 5), [""]);
  });

  it("hang under the first one's words", () => {
    const hanging = [{ text: "  ", pen: "" }];
    const rows = wrapPieces([{ text: "aa bb cc", pen: "" }], { columns: 7, hanging, taken: 2 });
    assert.deepEqual(
      rows.map(({ row }) => textOf(row)),
      ["aa bb", "  cc"],
    );
  });

  it("share the sequences of neighbours with one pen, and have none without styles", () => {
    const row = [
      { text: "a", pen: "1" },
      { text: "b", pen: "1" },
      { text: "c", pen: "" },
    ];
    assert.equal(paintRow(row, true), "\x1b[1mab\x1b[mc");
    assert.equal(paintRow(row, false), "abc");
  });

  it("lose nothing but the blanks they are broken at, at any width", () => {
    const piece = fc.record({
      text: fc.string({ unit: fc.constantFrom("a", "b", " ", "漢", "é", "😀"), minLength: 1 }),
      pen: fc.constantFrom("", "1"),
    });
    fc.assert(
      fc.property(fc.array(piece), fc.integer({ min: 2, max: 30 }), (pieces, columns) => {
        const rows = wrapPieces(pieces, { columns });
        const without = (text: string): string => text.replaceAll(" ", "");
        const all = rows.map(({ row }) => textOf(row)).join("");
        assert.equal(without(all), without(textOf(pieces)));
        for (const { row } of rows) assert.ok(widthOfRow(row) <= columns);
        assert.equal(rows.at(-1)?.end, textOf(pieces).length);
        // The text after a row's end is what the rows after it show.
        for (const [at, { end }] of rows.entries()) {
          const after = rows.slice(at + 1).map(({ row }) => textOf(row));
          assert.equal(without(textOf(pieces).slice(end)), without(after.join("")));
        }
        assert.ok(widthOfRow(clipRow(pieces, columns)) <= columns);
      }),
    );
  });
});
