import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { readWish } from "../../../src/responses/request/response-wish.ts";

describe("a wish of the record", () => {
  it("is read as it was written", () => {
    const written: JsonObject = {
      tenant: "t",
      top_p: 0.5,
      parallel_tool_calls: false,
      extras: { top_k: 4 },
      options: { stop: ["x"], service_tier: "flex", top_logprobs: 0 },
    };
    assert.deepEqual(readWish(written), written);
  });

  it("that an older version wrote has its options under the names of today", () => {
    const options = {
      stop: ["x"],
      frequencyPenalty: 0.5,
      presencePenalty: 0.25,
      topLogprobs: 0,
      verbosity: "low",
      serviceTier: "flex",
      user: "u",
      safetyIdentifier: "s",
      promptCacheKey: "k",
      promptCacheRetention: "24h",
      promptCacheOptions: { ttl: "30m" },
      moderation: { model: "m" },
    };
    assert.deepEqual(readWish({ options }).options, {
      stop: ["x"],
      frequency_penalty: 0.5,
      presence_penalty: 0.25,
      top_logprobs: 0,
      verbosity: "low",
      service_tier: "flex",
      user: "u",
      safety_identifier: "s",
      prompt_cache_key: "k",
      prompt_cache_retention: "24h",
      prompt_cache_options: { ttl: "30m" },
      moderation: { model: "m" },
    });
  });

  it("that an older version wrote asks nothing where it has null", () => {
    const old = { top_p: null, parallel_tool_calls: null, extras: null, options: {} };
    const { top_p, parallel_tool_calls, extras } = readWish(old);
    assert.deepEqual([top_p, parallel_tool_calls, extras], [undefined, undefined, undefined]);
  });
});
