import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { createRedact } from "../../src/base/redact.ts";
import { redactFailure } from "../../src/providers/provider-failure.ts";

describe("redactFailure", () => {
  const redact = createRedact(["Grm7pQ2vXw9s"]);

  it("takes a secret out of the message, and the cause that repeats it", () => {
    const details = { param: "key", vendorCode: "invalid_api_key", retryAfterMs: 5, cause: "raw" };
    const failure = redactFailure(
      new Failure("provider_unauthorized", "Wrong key: Grm7pQ2vXw9s.", details),
      redact,
    );
    assert.equal(failure.message, "Wrong key: [redacted].");
    const { code, param, vendorCode, retryAfterMs, cause } = failure;
    assert.deepEqual(
      [code, param, vendorCode, retryAfterMs, cause],
      ["provider_unauthorized", "key", "invalid_api_key", 5, undefined],
    );
  });

  it("gives a failure without secrets back as it is", () => {
    const failure = new Failure("provider_failed", "It broke.", { cause: new Error("socket") });
    assert.equal(redactFailure(failure, redact), failure);
    assert.equal(redactFailure(failure), failure);
  });
});
