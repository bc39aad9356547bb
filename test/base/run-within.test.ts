import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runWithin } from "../../src/base/run-within.ts";

const LIMIT = { limitMs: 50, what: "The schema", param: "text.format" };

describe("work that may never end", () => {
  it("gives what it comes to, and throws what it throws", () => {
    assert.equal(
      runWithin(LIMIT, () => 6 * 7),
      42,
    );
    assert.equal(
      runWithin(LIMIT, () => undefined),
      undefined,
    );
    const broken = new TypeError("broken");
    const fail = (): never => {
      throw broken;
    };
    assert.throws(() => runWithin(LIMIT, fail), broken);
    assert.equal(
      runWithin(LIMIT, () => runWithin(LIMIT, () => 1) + 1),
      2,
    );
  });

  it("is stopped when its time is over, in loops and in regular expressions", () => {
    const loop = (): void => {
      for (;;);
    };
    const pattern = (): boolean => /^(a+)+$/.test(`${"a".repeat(60)}!`);
    for (const work of [loop, pattern]) {
      assert.throws(() => runWithin(LIMIT, work), {
        code: "invalid_request",
        message: "The schema takes too long to work with.",
        param: "text.format",
      });
    }
    assert.ok(
      runWithin(LIMIT, () => true),
      "the next one runs",
    );
  });

  it("is refused where it asks for more than there is", () => {
    const deeper = (depth: number): number => deeper(depth + 1) + 1;
    const works: readonly (() => unknown)[] = [() => deeper(0), () => "x".repeat(2 ** 30)];
    for (const work of works) {
      assert.throws(() => runWithin(LIMIT, work), {
        code: "invalid_request",
        message: "The schema asks for too much.",
      });
    }
  });
});
