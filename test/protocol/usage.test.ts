import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_USAGE, toUsage } from "../../src/protocol/usage.ts";

describe("a usage", () => {
  it("counts a negative number of a server as zero", () => {
    const below = { input: -9, cached: -9, cacheWrite: -9, output: -9, reasoning: -9 };
    assert.deepEqual(toUsage({ ...below, nativeCalls: { web_search: -9 } }), NO_USAGE);
  });
});
