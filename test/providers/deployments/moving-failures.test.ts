/** What a client can make a deployment say, and that it is not held against it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { toVerdict } from "../../../src/providers/deployments/moving-failures.ts";
import { toModelFailure } from "../../../src/providers/provider-failure.ts";

const answer = (status: number, error: object) =>
  toModelFailure("acme", { status, headers: {}, body: JSON.stringify({ error }) });

describe("what a refused request says of its deployment", () => {
  it("is that it works, where the request or the model's words are at fault", () => {
    const slip = { code: "tool_use_failed", message: "Failed to call a function." };
    assert.equal(toVerdict(answer(400, slip)), "well");
    const flagged = { code: 403, message: "The input was flagged." };
    assert.equal(toVerdict(answer(403, flagged)), "well");
    assert.equal(toVerdict(answer(400, { message: "Wrong schema." })), "well");
  });

  it("is nothing, where the answer is empty: a client can ask for that as often as it likes", () => {
    assert.equal(toVerdict(new Failure("empty_answer", "Nothing was said.")), "unknown");
  });

  it("is the failure, where the account or the server is at fault", () => {
    for (const status of [401, 402, 403, 429, 500, 503]) {
      const failure = answer(status, { message: "No." });
      assert.equal(toVerdict(failure), failure, `${status}`);
    }
  });
});
