import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compareWords } from "../../web/core/compare-words.ts";
import { toAgo } from "../../web/core/format.ts";
import { cutStable } from "../../web/core/stable-text.ts";
import { visible } from "../../web/core/visible.ts";

describe("texts of the console", () => {
  it("names characters that hide or turn the text around them, and leaves the others", () => {
    assert.equal(visible("rm\u202e txt.\u0000"), "rm[U+202E] txt.[U+0000]");
    assert.equal(visible("två\n\t日本 👩\u200d💻"), "två\n\t日本 👩\u200d💻");
  });

  it("finds the words in which two texts differ, and nothing else", () => {
    const pieces = compareWords("Ship it today, all of it.", "Ship it tomorrow, all of it.");
    assert.deepEqual(pieces, [
      { text: "Ship it", of: "both" },
      { text: " today,", of: "a" },
      { text: " tomorrow,", of: "b" },
      { text: " all of it.", of: "both" },
    ]);
    for (const [a, b] of [
      ["", "new"],
      ["old", ""],
      ["a b c d e", "e d c b a"],
      ["x ".repeat(3000), "y ".repeat(3000)],
    ] as const) {
      const all = compareWords(a, b);
      const side = (of: "a" | "b"): string =>
        all
          .filter((piece) => piece.of === "both" || piece.of === of)
          .map(({ text }) => text)
          .join("");
      assert.deepEqual([side("a"), side("b")], [a, b]);
    }
  });

  it("parses what is finished of a growing text once, and never inside of code", () => {
    const text = "One.\n\nTwo\nlines.\n\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n\nLast";
    const cuts: number[] = [];
    let from = 0;
    for (let end = 1; end <= text.length; end++) {
      from = cutStable(text.slice(0, end), from);
      if (from !== cuts.at(-1)) cuts.push(from);
    }
    const pieces = cuts.map((cut, at) => text.slice(cuts[at - 1] ?? 0, cut)).filter(Boolean);
    assert.deepEqual(pieces, [
      "One.\n\n",
      "Two\nlines.\n\n",
      "```ts\nconst a = 1;\n\nconst b = 2;\n```\n\n",
    ]);
    assert.equal(cutStable("- one\n\n  still one", 0), 0, "a list continues after a blank line");
  });

  it("says how long ago, and how soon", () => {
    assert.deepEqual(
      [toAgo(1000, 61_000), toAgo(null), toAgo(7_261_000, 61_000), toAgo(61_000, 61_000)],
      ["1 min ago", "never", "in 2 h", "now"],
    );
  });
});
