import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FAILURES, Failure, toFailure, unreachable } from "../../src/base/failure.ts";

describe("the table of failures", () => {
  for (const [code, { status, exit, retryable, summary }] of Object.entries(FAILURES)) {
    it(`says what \`${code}\` means at every edge`, () => {
      assert.match(code, /^[a-z]+(_[a-z]+)*$/);
      assert.ok(Number.isInteger(status) && status >= 400 && status < 600, `status ${status}`);
      assert.ok(Number.isInteger(exit) && exit > 0 && exit < 256, `exit ${exit}`);
      assert.equal(typeof retryable, "boolean");
      assert.match(summary, /^[A-Z].+\.$/);
      // Exit code 2 promises that nothing was sent, so there is nothing to try again either.
      assert.ok(!(exit === 2 && retryable));
    });
  }

  it("describes each code in words of its own", () => {
    const summaries = Object.values(FAILURES).map(({ summary }) => summary);
    assert.equal(new Set(summaries).size, summaries.length);
  });
});

describe("Failure", () => {
  it("carries its code and the facts around it", () => {
    const cause = new Error("below");
    const details = { param: "input[0]", vendorCode: "busy", retryAfterMs: 5, cause };
    const failure = new Failure("provider_overloaded", "Wait.", details);
    assert.deepEqual(
      { ...failure, message: failure.message, cause: failure.cause },
      {
        name: "Failure",
        code: "provider_overloaded",
        message: "Wait.",
        ...details,
        retryable: true,
      },
    );
    assert.ok(failure instanceof Error);
  });

  it("can be marked as not retryable although its code is retryable", () => {
    const refused = new Failure("provider_unreachable", "No.", { retryable: false });
    assert.equal(refused.retryable, false);
  });
});

describe("toFailure", () => {
  it("keeps a failure as it is", () => {
    const failure = new Failure("timeout", "late");
    assert.equal(toFailure(failure), failure);
  });

  it("turns an aborted operation into a cancelled run", () => {
    const aborted = new DOMException("aborted", "AbortError");
    const { code, cause } = toFailure(aborted);
    assert.deepEqual([code, cause], ["cancelled", aborted]);
  });

  for (const [thrown, message] of [
    [new TypeError("x is undefined"), "x is undefined"],
    ["a text", "a text"],
    [undefined, "undefined"],
    [{ toString: () => "odd" }, "odd"],
  ] as const) {
    it(`turns anything else into an internal defect: ${message}`, () => {
      const failure = toFailure(thrown);
      assert.deepEqual(
        [failure.code, failure.message, failure.cause],
        ["internal", message, thrown],
      );
    });
  }
});

describe("unreachable", () => {
  it("fails as a defect, with the value it was given", () => {
    assert.throws(() => unreachable({ type: "new" } as never), {
      code: "internal",
      message: 'Unexpected value: {"type":"new"}',
    });
  });
});
