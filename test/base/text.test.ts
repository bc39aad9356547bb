import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { clip, cutToBytes, cutToChars, nearest, plural } from "../../src/base/text.ts";

/** Texts of characters of one to four bytes, one and two units. */
const texts = fc.array(fc.constantFrom("a", " ", "\n", "é", "€", "😀")).map((all) => all.join(""));

describe("clip", () => {
  it("puts a text on one line and marks where it was shortened", () => {
    assert.equal(clip("  a\n\tb  c ", 10), "a b c");
    assert.equal(clip("abcdef", 6), "abcdef");
    assert.equal(clip("abcdefg", 6), "abcde…");
  });

  it("is the beginning of the text with one space for each gap", () => {
    const long = fc
      .array(fc.constantFrom("  ", "x".repeat(499), "é\n", "😀"))
      .map((all) => all.join(""));
    fc.assert(
      fc.property(fc.oneof(texts, long), fc.integer({ min: 1, max: 1500 }), (text, max) => {
        const line = text.replace(/\s+/g, " ").trim();
        const cut = line.length <= max ? line : `${cutToChars(line, max - 1)}…`;
        assert.equal(clip(text, max), cut);
      }),
      { seed: 1 },
    );
  });

  it("is never longer than asked and splits no character", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, max) => {
        const clipped = clip(text, max);
        assert.ok(clipped.length <= max);
        assert.ok(isWellFormed(clipped));
      }),
      { seed: 1 },
    );
  });
});

describe("cutToBytes", () => {
  it("cuts before a character that does not fit", () => {
    assert.equal(cutToBytes("a€😀", 8), "a€😀");
    assert.equal(cutToBytes("a€😀", 7), "a€");
    assert.equal(cutToBytes("a€😀", 4), "a€");
    assert.equal(cutToBytes("a€😀", 3), "a");
    assert.equal(cutToBytes("a€😀", 0), "");
  });

  it("gives the longest whole prefix that fits", () => {
    fc.assert(
      fc.property(texts, fc.nat(40), (text, maxBytes) => {
        const cut = cutToBytes(text, maxBytes);
        const next = [...text][[...cut].length] ?? "";
        assert.ok(text.startsWith(cut));
        assert.ok(isWellFormed(cut));
        assert.ok(Buffer.byteLength(cut) <= maxBytes);
        assert.ok(next === "" || Buffer.byteLength(cut + next) > maxBytes);
      }),
      { seed: 1 },
    );
  });
});

describe("plural", () => {
  it("counts one thing and many", () => {
    assert.deepEqual(
      [0, 1, 2].map((count) => plural(count, "turn")),
      ["0 turns", "1 turn", "2 turns"],
    );
  });
});

describe("nearest", () => {
  const known = ["read", "bash_find", "bash_read", "search_web"];
  for (const [typed, meant] of [
    ["raed", "read"],
    ["Read", "read"],
    ["bash-find", "bash_find"],
    ["bashfind", "bash_find"],
    ["search_the_web", "search_web"],
    ["read", "read"],
    ["python_execute", undefined],
    ["", undefined],
  ] as const) {
    it(`takes ${JSON.stringify(typed)} for ${meant}`, () => {
      assert.equal(nearest(typed, known), meant);
    });
  }

  it("returns nothing when no names are known", () => {
    assert.equal(nearest("read", []), undefined);
  });

  it("returns the first of two names that are equally near", () => {
    assert.equal(nearest("rat", ["cat", "bat"]), "cat");
  });
});

/** True if no character was split. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

describe("cutToChars", () => {
  it("a text is never shortened in the middle of a character", () => {
    assert.equal(cutToChars("abc🦦", 5), "abc🦦");
    assert.equal(cutToChars("abc🦦d", 4), "abc");
    assert.equal(cutToChars("abc", 2), "ab");
  });
});
