import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { replaceOnce } from "../../../src/tools/files/text-file.ts";

describe("replaceOnce", () => {
  it("changes only the text at one place, whatever it looks like", () => {
    const texts = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 12 });
    const parts = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(texts, parts, (content, before) => {
        const places = [...content].flatMap((_, at) => (content.startsWith(before, at) ? at : []));
        const change = () => replaceOnce(content, { path: "f", before, after: "$&" });
        const [at = 0] = places;
        if (places.length === 0) assert.throws(change, { message: "String not found in f" });
        else if (places.length > 1)
          assert.throws(change, { message: new RegExp(`found ${places.length} times`) });
        else {
          const head = content.slice(0, at);
          const tail = content.slice(at + before.length);
          assert.deepEqual(change(), {
            content: `${head}$&${tail}`,
            line: head.split("\n").length,
          });
        }
      }),
    );
  });
});
