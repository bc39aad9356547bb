/** The meaning of each failure for the deployments of a name, and the messages that a client can cause. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FAILURES, Failure, type FailureCode } from "../../../src/base/failure.ts";
import {
  toMisshapen,
  toMissingCall,
  toNamelessCall,
  toUnreadable,
} from "../../../src/providers/broken-answer.ts";
import {
  FAILURE_RULES,
  type FailureRule,
  isLasting,
  nextAfter,
  toVerdict,
} from "../../../src/providers/deployments/failure-rules.ts";
import { toModelFailure, toVendorFailure } from "../../../src/providers/provider-failure.ts";

const answer = (status: number, error: object) =>
  toModelFailure("acme", { status, headers: {}, body: JSON.stringify({ error }) });

function meaningOf(failure: Failure): [FailureRule["next"], FailureRule["health"]] {
  const verdict = toVerdict(failure);
  if (typeof verdict === "string") return [nextAfter(failure), verdict];
  assert.equal(verdict, failure);
  return [nextAfter(failure), isLasting(failure) ? "at_once" : "counts"];
}

/** In the form in which the wires throw them. */
const MEANINGS: readonly [string, Failure, FailureRule["next"], FailureRule["health"]][] = [
  ["401", answer(401, { message: "No." }), "any", "at_once"],
  ["402", answer(402, { message: "No." }), "any", "at_once"],
  ["403", answer(403, { message: "No." }), "any", "at_once"],
  ["a spent quota", answer(429, { code: "insufficient_quota" }), "any", "at_once"],
  ["a missing model", answer(404, { code: "model_not_found" }), "any", "at_once"],
  ["429", answer(429, { message: "No." }), "any", "counts"],
  ["500", answer(500, { message: "No." }), "any", "counts"],
  ["503", answer(503, { message: "No." }), "any", "counts"],
  ["an error in the stream", toVendorFailure({ message: "Boom" }), "any", "counts"],
  ["a full server in the stream", toVendorFailure({ code: "overloaded_error" }), "any", "counts"],
  ["a cut stream", new Failure("provider_broke_protocol", "Cut."), "any", "counts"],
  ["no connection", new Failure("provider_unreachable", "Refused."), "any", "counts"],
  ["a call that is asked for and not made", toMissingCall(), "any", "unknown"],
  ["a call without a name", toNamelessCall(), "any", "unknown"],
  ["a call that cannot be read", toUnreadable("MALFORMED_FUNCTION_CALL", ""), "any", "unknown"],
  ["fields of wrong types", toMisshapen("`content` is a number"), "any", "unknown"],
  ["an empty answer", new Failure("empty_answer", "Nothing was said."), "any", "unknown"],
  ["a slip", answer(400, { code: "tool_use_failed", message: "Failed to call." }), "any", "well"],
  ["too long", answer(400, { code: "context_length_exceeded" }), "larger", "well"],
  [
    "too long, in the stream",
    toVendorFailure({ code: "context_length_exceeded" }),
    "larger",
    "well",
  ],
  ["a wrong schema", answer(400, { message: "Wrong schema." }), "none", "well"],
  ["a filtered prompt", answer(400, { code: "content_filter" }), "none", "well"],
  ["a flagged prompt", answer(403, { code: 403, message: "It was flagged." }), "none", "well"],
  ["a filter in the stream", toVendorFailure({ code: "content_filter" }), "none", "well"],
  ["a prompt refused in the stream", toVendorFailure({ code: "invalid_prompt" }), "none", "well"],
  ["a picture refused in the stream", toVendorFailure({ code: "image_too_large" }), "none", "well"],
  ["too much", new Failure("answer_too_large", "Too much."), "none", "well"],
  ["a client that left", new Failure("cancelled", "Gone."), "none", "unknown"],
];

describe("the meaning of a failure for the deployments of a name", () => {
  for (const [name, failure, next, health] of MEANINGS) {
    it(`is to ask ${next} next, and ${health} for its health: ${name}`, () => {
      assert.deepEqual(meaningOf(failure), [next, health]);
    });
  }

  it("is defined once for each code of a model's server", () => {
    const named = FAILURE_RULES.flatMap(({ codes }) => codes);
    assert.equal(new Set(named).size, named.length);
    const ofServers = (Object.keys(FAILURES) as FailureCode[]).filter((code) =>
      /^provider_|_answer$|^answer_/.test(code),
    );
    assert.deepEqual(
      ofServers.filter((code) => !named.includes(code)),
      [],
    );
  });
});
