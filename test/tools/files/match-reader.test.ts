import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMatchReader } from "../../../src/tools/files/ripgrep/match-reader.ts";
import { MAX_KEPT } from "../../../src/tools/files/ripgrep/page.ts";

const OUTPUT = Buffer.from(
  "./a\x001:x\n2-y\n--\n9:z\n\n./new\nline\n\x003:é\n\nskipped\x001:s\n\nlast\x004:end\r\n5:cut",
);

const EXPECTED = [
  ["a", ["1:x", "2-y"], 3, 26],
  ["new\nline\n", ["3:é"], 1, 14],
  ["last", ["4:end", "5:cut"], 2, 31],
];

describe("createMatchReader", () => {
  for (const size of [1, 2, 7, 64]) {
    it(`reads the same from pieces of ${size} bytes`, () => {
      const found: unknown[] = [];
      let path = "";
      const reader = createMatchReader({
        begin(name) {
          path = name;
          return name === "skipped" ? undefined : { lines: 2, cost: 10 };
        },
        end: (lines, { count, cost }) => found.push([path, lines, count, cost]),
      });
      for (let at = 0; at < OUTPUT.length; at += size) reader.take(OUTPUT.subarray(at, at + size));
      reader.finish();
      assert.deepEqual(found, EXPECTED);
    });
  }

  it("keeps the first lines up to a limit, and counts the rest", () => {
    const found: unknown[] = [];
    const reader = createMatchReader({
      begin: () => ({ lines: Number.POSITIVE_INFINITY, cost: MAX_KEPT / 2 }),
      end: (lines, { count }) => found.push(lines, count),
    });
    reader.take(Buffer.from("a\x001:x\n2:y\n3:z\n4:z\n\n"));
    assert.deepEqual(found, [["1:x", "2:y"], 4]);
  });

  it("reads nothing from empty output", () => {
    const fail = (): never => assert.fail("there is no file");
    const reader = createMatchReader({ begin: fail, end: fail });
    reader.finish();
  });
});
