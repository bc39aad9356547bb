/** How much a Messages client wants its model to think, as an effort. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toCreateResponse } from "../../../src/responses/messages/parse-messages.ts";

function effortOf(body: object): unknown {
  const upstream = {
    isVendor: false,
    canStopThinking: true,
    maxOutputTokens: undefined,
    contextTokens: undefined,
  };
  const given = { model: "m", max_tokens: 64_000, messages: [{ role: "user", content: "Hi" }] };
  const parsed = toCreateResponse({ ...given, ...body }, { upstreamOf: () => upstream });
  return parsed.request.reasoning?.effort;
}

describe("the thinking of a Messages request", () => {
  it("has the effort whose budget is nearest", () => {
    const rows: readonly (readonly [number, string])[] = [
      [1024, "minimal"],
      [4000, "low"],
      [8000, "medium"],
      [10_000, "medium"],
      [16_000, "high"],
      [31_999, "xhigh"],
      [60_000, "max"],
    ];
    for (const [budget_tokens, effort] of rows) {
      assert.equal(effortOf({ thinking: { type: "enabled", budget_tokens } }), effort);
    }
  });

  it("has the effort that the request names, before any budget", () => {
    const thinking = { type: "enabled", budget_tokens: 1024 };
    assert.equal(effortOf({ thinking, output_config: { effort: "max" } }), "max");
    assert.equal(effortOf({ thinking: { type: "adaptive" } }), "high");
    assert.equal(effortOf({ output_config: { effort: "max" } }), "none");
  });
});
