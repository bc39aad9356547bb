/** JSON in pieces is the JSON that `JSON.stringify` makes. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isLarge, toJsonPieces } from "../../src/base/json-pieces.ts";

const PIECE = 64 * 1024;
const LONG_TEXT = "A line of text.\n".repeat(20_000);

const VALUES: Readonly<Record<string, unknown>> = {
  "a short object": { a: 1, b: [true, null, "x"], c: undefined },
  "a long text": LONG_TEXT,
  "a long text in a list in an object": { a: { b: [1, LONG_TEXT, "after it"] }, c: 2 },
  "two long texts beside fields that are left out": { a: LONG_TEXT, b: undefined, c: LONG_TEXT },
  "a long text after nothing": [undefined, LONG_TEXT],
  "many short things": Array.from({ length: 20_000 }, (_, at) => ({ at, text: "short" })),
  "an object that is long by its names": Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`name "${at}"`, at]),
  ),
  "an empty object and list beside a long text": { a: {}, b: [], c: LONG_TEXT },
  "long texts that end with backslashes and quotes, one after the other": [
    `${LONG_TEXT}\\`,
    `${LONG_TEXT}\\\\"`,
    `"${LONG_TEXT}\\"\\`,
    "\\".repeat(3 * PIECE + 1),
  ],
  "text of quotes and control characters": '"\\\n\u0000\u2028'.repeat(PIECE),
  "characters of two halves, from an odd place": `x${"😀".repeat(PIECE)}`,
  "characters of two halves, from an even place": "😀".repeat(PIECE),
  "halves of characters": `${"x".repeat(PIECE - 1)}\ud800${"\udc00x".repeat(PIECE)}\ud800`,
};

describe("JSON in pieces", () => {
  for (const [name, value] of Object.entries(VALUES)) {
    it(`is the JSON of ${name}`, () => {
      const pieces = [...toJsonPieces(value)];
      assert.ok(pieces.join("") === JSON.stringify(value));
      for (const piece of pieces) assert.ok(piece.length <= 8 * PIECE, `${piece.length}`);
    });
  }

  it("comes one piece at a time", () => {
    const pieces = toJsonPieces({ text: LONG_TEXT });
    assert.ok((pieces.next().value?.length ?? 0) < 2 * PIECE);
    assert.ok([...pieces].length > 2);
  });

  it("is used for large values, which are recognised without reading all of them", () => {
    assert.equal(isLarge({ a: "b".repeat(1000) }), false);
    assert.equal(isLarge(["b".repeat(300_000)]), true);
    assert.equal(isLarge(Array.from({ length: 100_000 }, () => 1)), true);
  });
});
