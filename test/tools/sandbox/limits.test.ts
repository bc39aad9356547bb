import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countTasks, withLimits } from "../../../src/tools/sandbox/limits.ts";

describe("withLimits", () => {
  it("keeps the words unchanged, after a script of its own", () => {
    const [shell, flag, script, ...words] = withLimits(["a b", "$(x)"], 100);
    assert.deepEqual([shell, flag, ...words], ["/bin/sh", "-c", "sh", "a b", "$(x)"]);
    assert.match(script ?? "", /ulimit -u 1124/);
    assert.match(script ?? "", /exec "\$@"$/);
  });

  it("sets no limit on processes if it cannot count them", () => {
    assert.doesNotMatch(withLimits(["x"], undefined)[2] ?? "", /ulimit -u/);
  });
});

describe("countTasks", () => {
  it("reads the system's count", () => {
    assert.equal(countTasks("0.20 0.18 0.12 1/523 11206\n"), 523);
    assert.equal(countTasks("nonsense"), undefined);
  });
});
