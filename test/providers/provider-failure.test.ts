import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { createRedact } from "../../src/base/redact.ts";
import {
  isAccountFailure,
  redactFailure,
  toModelFailure,
} from "../../src/providers/provider-failure.ts";

describe("redactFailure", () => {
  const redact = createRedact(["Grm7pQ2vXw9s"]);

  it("removes a secret from the message, and the cause that repeats it", () => {
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

  it("returns a failure without secrets unchanged", () => {
    const failure = new Failure("provider_failed", "It broke.", { cause: new Error("socket") });
    assert.equal(redactFailure(failure, redact), failure);
    assert.equal(redactFailure(failure), failure);
  });
});

describe("toModelFailure", () => {
  const codeOf = (status: number, error: object | string): string =>
    toModelFailure("acme", { status, headers: {}, body: JSON.stringify({ error }) }).code;

  it("counts a refused prompt as the client's fault, and not as the account's", () => {
    const flagged = "Your chosen model requires moderation and your input was flagged.";
    const metadata = { reasons: ["violence"], flagged_input: "…" };
    for (const error of [
      { code: 403, message: flagged, metadata },
      { code: "content_policy_violation", message: "Refused" },
      { code: 403, message: "Request blocked: prompt injection patterns detected" },
    ]) {
      assert.equal(codeOf(403, error), "provider_rejected", JSON.stringify(error));
    }
    assert.equal(codeOf(403, { code: 403, message: "Key disabled" }), "provider_unauthorized");
    assert.equal(codeOf(401, { code: 401, message: flagged }), "provider_unauthorized");
  });

  it("recognizes a missing model in the words of each vendor", () => {
    for (const [status, error] of [
      [404, { message: "The model `x` does not exist.", type: "NotFoundError", code: 404 }],
      [400, { message: "The requested model 'x' does not exist.", code: "model_not_found" }],
      [404, "model 'x' not found"],
      [404, { type: "not_found_error", message: "model: x" }],
      [
        404,
        { code: 404, message: "models/x is not found for API version v1", status: "NOT_FOUND" },
      ],
      [400, { message: "The provided model identifier is invalid.", code: "ValidationException" }],
      [404, { message: "No such deployment.", code: "DeploymentNotFound" }],
    ] as const) {
      assert.equal(codeOf(status, error), "model_not_found", JSON.stringify(error));
    }
  });

  it("recognizes a refused account in the words of each vendor", () => {
    const failureOf = (status: number, error: object): Failure =>
      toModelFailure("acme", { status, headers: {}, body: JSON.stringify({ error }) });
    const spent = "Your credit balance is too low to access the API.";
    for (const [status, error] of [
      [401, { message: "Wrong key." }],
      [402, { message: "Insufficient Balance", code: "invalid_request_error" }],
      [403, { message: "Not allowed." }],
      [400, { type: "invalid_request_error", message: spent }],
      [429, { message: "You exceeded your quota.", code: "insufficient_quota" }],
      [400, { message: "Billing hard limit reached.", code: "billing_hard_limit_reached" }],
    ] as const) {
      assert.ok(isAccountFailure(failureOf(status, error)), JSON.stringify(error));
    }
    assert.ok(!isAccountFailure(failureOf(429, { message: "Slow down." })));
    assert.ok(!isAccountFailure(failureOf(400, { message: "Wrong." })));
  });

  it("leaves a wrong address and every other refusal unchanged", () => {
    assert.equal(codeOf(404, "page not found"), "provider_rejected");
    assert.equal(codeOf(400, "this model has no tools"), "provider_rejected");
  });
});
