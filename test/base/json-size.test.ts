import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countJsonChars, mostJsonBytes } from "../../src/base/json-size.ts";

const VALUES: Readonly<Record<string, unknown>> = {
  text: "Grüße, 漢字 🙂",
  "nothing but escapes": "\0".repeat(1000),
  "half a character": "\ud800".repeat(10),
  quotes: '"\\"'.repeat(10),
  number: -1.7976931348623157e308,
  numbers: [0.1, 1, -5e-324, 123_456_789_012_345, 1e21],
  words: [true, false, null],
  nothing: {},
  "an empty list": [],
  "names with escapes": { ["\n".repeat(50)]: 1, [""]: "" },
  nested: { a: [{ b: { c: ["d", [[]], { e: null }] } }] },
  "what is left out": { a: undefined, b: 1 },
};

describe("the size of a value as JSON", () => {
  for (const [name, value] of Object.entries(VALUES)) {
    it(`is never more than the most it can be (${name})`, () => {
      const bytes = Buffer.byteLength(JSON.stringify(value));
      assert.ok(mostJsonBytes(value) >= bytes, `${mostJsonBytes(value)} for ${bytes}`);
    });
  }

  it("is about that of its JSON", () => {
    const value = Array.from({ length: 100 }, (_, at) => ({
      type: "message",
      role: "user",
      status: null,
      left: undefined,
      content: [{ type: "input_text", text: "word ".repeat(at) }],
    }));
    const written = JSON.stringify(value).length;
    const counted = countJsonChars(value);
    assert.ok(Math.abs(counted - written) < written * 0.02, `${counted}, not ${written}`);
  });

  it("counts a text with the given function, by the name of its field", () => {
    const value = { data: "x".repeat(1000), list: ["x".repeat(1000)] };
    const plain = countJsonChars(value);
    const counted = countJsonChars(value, ({ length }, name) => (name === "data" ? 0 : length));
    assert.equal(plain - counted, 1000);
  });
});
