import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { checkRouted } from "../../../src/testing/chat/chat-router.ts";
import { firstOf } from "../../../src/testing/exchange/rejection.ts";

const asked = (more: JsonObject): JsonObject => ({
  model: "m",
  messages: [{ role: "user", content: "Hi" }],
  ...more,
});
const mark = { type: "ephemeral" };
const parts = (count: number): JsonObject => ({
  messages: [
    {
      role: "user",
      content: Array.from({ length: count }, () => {
        return { type: "text", text: "Hi", cache_control: mark };
      }),
    },
  ],
});

describe("what the scripted OpenRouter accepts", () => {
  for (const fields of [
    { provider: { order: ["a"] }, models: ["a/b"], transforms: [], top_k: 5 },
    { reasoning: { effort: "none" } },
    { cache_control: { ...mark, ttl: "1h" } },
    parts(4),
  ]) {
    it(`is ${Object.keys(fields).join(", ")}`, () => {
      assert.equal(firstOf(checkRouted(asked(fields))), undefined);
    });
  }

  const refused: readonly (readonly [string, JsonObject, RegExp])[] = [
    ["an unknown field", { zebra: 1 }, /Unknown parameter: 'zebra'/],
    ["two efforts", { reasoning: {}, reasoning_effort: "low" }, /Only one of "reasoning"/],
    ["an unknown effort", { reasoning: { effort: "zebra" } }, /Invalid value: 'zebra'/],
    ["five marks", { ...parts(4), cache_control: mark }, /A maximum of 4 blocks.*Found 5/],
    ["a mark for a day", { cache_control: { ...mark, ttl: "24h" } }, /Invalid value: '24h'/],
  ];
  for (const [name, fields, message] of refused) {
    it(`is not ${name}`, () => {
      assert.match(firstOf(checkRouted(asked(fields)))?.error.message ?? "", message);
    });
  }
});
