import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runWithin } from "../../src/base/run-within.ts";
import { PATIENCE_MS } from "../patience.ts";

const PATIENT = { limitMs: PATIENCE_MS, what: "The schema", param: "text.format" };
const SHORT = { ...PATIENT, limitMs: 50 };

describe("work that may never end", () => {
  it("returns what the work returns, and throws what it throws", () => {
    assert.equal(
      runWithin(PATIENT, () => 6 * 7),
      42,
    );
    assert.equal(
      runWithin(PATIENT, () => undefined),
      undefined,
    );
    const broken = new TypeError("broken");
    const fail = (): never => {
      throw broken;
    };
    assert.throws(() => runWithin(PATIENT, fail), broken);
    assert.equal(
      runWithin(PATIENT, () => runWithin(PATIENT, () => 1) + 1),
      2,
    );
  });

  it("is stopped when its time is over, in loops and in regular expressions", () => {
    const loop = (): void => {
      for (;;);
    };
    const pattern = (): boolean => /^(a+)+$/.test(`${"a".repeat(60)}!`);
    for (const work of [loop, pattern]) {
      assert.throws(() => runWithin(SHORT, work), {
        code: "invalid_request",
        message: "The schema takes too long to work with.",
        param: "text.format",
      });
    }
    assert.ok(
      runWithin(PATIENT, () => true),
      "the next one runs",
    );
  });

  it("is tried again with more time when the machine was too busy to run it", () => {
    let tries = 0;
    const slow = (): number => {
      tries++;
      const endMs = performance.now() + 200;
      while (performance.now() < endMs);
      return 42;
    };
    const idle = { ...SHORT, readUsedMs: () => 0 };
    assert.equal(runWithin(idle, slow), 42);
    assert.ok(tries > 1, "the first try was too short");
  });

  it("is refused when it needs too much memory or depth", () => {
    const deeper = (depth: number): number => deeper(depth + 1) + 1;
    const works: readonly (() => unknown)[] = [() => deeper(0), () => "x".repeat(2 ** 30)];
    for (const work of works) {
      assert.throws(() => runWithin(PATIENT, work), {
        code: "invalid_request",
        message: "The schema asks for too much.",
      });
    }
  });
});
