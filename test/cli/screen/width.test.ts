import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { cutToColumns, graphemesOf, widthOf } from "../../../src/cli/screen/width.ts";

const WIDTHS: readonly (readonly [text: string, width: number, what: string])[] = [
  ["hello", 5, "ASCII"],
  ["héllo", 5, "a letter with its accent in one code point"],
  ["he\u0301llo", 5, "a letter with a combining accent"],
  ["漢字", 4, "hanzi"],
  ["한국", 4, "hangul"],
  ["\u1112\u1161\u11ab", 2, "hangul from three letters"],
  ["ｶﾅ", 2, "halfwidth kana"],
  ["Ａ", 2, "a fullwidth letter"],
  ["😀", 2, "an emoji"],
  ["👨‍👩‍👧", 2, "a family, of five code points"],
  ["👍🏽", 2, "a skin tone"],
  ["🇩🇪", 2, "a flag"],
  ["❤️", 2, "a heart that is made an emoji"],
  ["❤", 1, "a heart that is not"],
  ["→…│", 3, "signs"],
  ["a\u200bb", 2, "a space without width"],
  ["ไทย", 3, "Thai"],
  ["नि", 1, "a Devanagari syllable"],
];

describe("the width of a text", () => {
  for (const [text, width, what] of WIDTHS) {
    it(`is ${width} for ${what}`, () => assert.equal(widthOf(text), width));
  }

  it("is the sum of its graphemes, and cutting never exceeds it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, columns) => {
        const cut = cutToColumns(text, columns);
        assert.ok(text.startsWith(cut));
        assert.ok(widthOf(cut) <= columns);
        assert.equal(graphemesOf(text).join(""), text);
      }),
    );
  });
});
