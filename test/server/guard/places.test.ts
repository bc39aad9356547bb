import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPlaceBook } from "../../../src/server/guard/places.ts";

describe("the places of keys", () => {
  it("are so many for all who take them", () => {
    const book = createPlaceBook<string>();
    const [first, second] = [book.of("first"), book.of("second")];
    assert.deepEqual(
      [first.take("k", 2), second.take("k", 2), first.take("k", 2)],
      [true, true, false],
    );
    assert.equal(second.take("other", 1), true);
    second.leave("k");
    assert.deepEqual([first.take("k", 2), second.take("k", 2)], [true, false]);
  });

  it("come back when whoever has them is gone, and no others do", () => {
    const book = createPlaceBook<string>();
    const [first, second] = [book.of("first"), book.of("second")];
    for (const count of [first, first, second]) count.take("k", 3);
    first.take("other", 1);
    book.forget("first");
    assert.deepEqual(
      [1, 2, 3].map(() => second.take("k", 3)),
      [true, true, false],
    );
    assert.equal(second.take("other", 1), true);
  });

  it("are not given back by those who have none", () => {
    const book = createPlaceBook<string>();
    book.of("first").take("k", 1);
    book.of("second").leave("k");
    assert.equal(book.of("second").take("k", 1), false);
  });
});
