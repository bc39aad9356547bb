import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMatchReader } from "../../../src/tools/files/ripgrep/match-reader.ts";

const OUTPUT = Buffer.from(
  "./a\x001:x\n2-y\n--\n9:z\n\n./new\nline\n\x003:é\n\nskipped\x001:s\n\nlast\x004:end\r\n5:cut",
);

const EXPECTED = [
  ["a", ["1:x", "2-y"], 3],
  ["new\nline\n", ["3:é"], 1],
  ["last", ["4:end", "5:cut"], 2],
];

describe("createMatchReader", () => {
  for (const size of [1, 2, 7, 64]) {
    it(`reads the same from pieces of ${size} bytes`, () => {
      const found: unknown[] = [];
      let path = "";
      const reader = createMatchReader({
        begin(name) {
          path = name;
          return name === "skipped" ? undefined : 2;
        },
        end: (lines, count) => found.push([path, lines, count]),
      });
      for (let at = 0; at < OUTPUT.length; at += size) reader.take(OUTPUT.subarray(at, at + size));
      reader.finish();
      assert.deepEqual(found, EXPECTED);
    });
  }

  it("reads nothing from nothing", () => {
    const fail = (): never => assert.fail("there is no file");
    const reader = createMatchReader({ begin: fail, end: fail });
    reader.finish();
  });
});
