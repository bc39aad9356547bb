import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { findRelative } from "../../../src/tools/workspace/resolve-inside.ts";

describe("findRelative", () => {
  it("gives the way to what lies inside, and nothing for the rest", () => {
    const root = join("/", "work", "root");
    for (const [path, way] of [
      ["a/b", "a/b"],
      ["./a/../b/", "b"],
      [".", ""],
      [join(root, "..c"), "..c"],
      ["..", undefined],
      ["../root-more", undefined],
      ["/etc", undefined],
    ] as const) {
      assert.equal(findRelative(root, path), way, path);
    }
  });
});
