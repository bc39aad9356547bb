import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isWithin } from "../../src/base/paths.ts";

describe("isWithin", () => {
  it("is false for a sibling folder whose name begins alike", () => {
    assert.ok(isWithin("/a", "/a") && isWithin("/a", "/a/b") && isWithin("/", "/a"));
    assert.ok(!isWithin("/a", "/ab") && !isWithin("/a/b", "/a") && !isWithin("/a", "/b"));
    assert.ok(isWithin("/a", "/a/..b") && !isWithin("/a", "/a/../b") && !isWithin("/a", "/"));
  });
});
