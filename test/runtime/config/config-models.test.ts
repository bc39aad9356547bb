import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findModel } from "../../../src/providers/models/models.ts";
import { checkModels, toModelOverrides } from "../../../src/runtime/config/config-models.ts";

describe("the setting `models`", () => {
  it("becomes rows of the model table", () => {
    const models = checkModels(
      {
        "custom/a/b": {
          context_tokens: 100,
          max_output_tokens: 10,
          price: { input: 1, cache_write: 3, output: 2 },
          vision: false,
          refuses: ["temperature", "effort:none"],
        },
      },
      "x",
    );
    const model = findModel("custom", "a/b", toModelOverrides(models));
    assert.equal(model.contextTokens, 100);
    assert.equal(model.maxOutputTokens, 10);
    assert.deepEqual(model.price, { input: 1, cached: undefined, cacheWrite: 3, output: 2 });
    assert.equal(model.vision, false);
    assert.equal(model.tools, true);
    assert.deepEqual(model.refuses, ["temperature", "effort:none"]);
  });

  it("has no rows when it is not set", () => assert.deepEqual(toModelOverrides(undefined), []));

  const refusals: readonly [Parameters<typeof checkModels>[0], RegExp][] = [
    [{ "gpt-5": {} }, /`gpt-5` must be written vendor\/model/],
    [{ "a/b": 5 }, /`a\/b` must be a map with some of: context_tokens/],
    [{ "a/b": { context_token: 5 } }, /Did you mean `context_tokens`\?/],
    [{ "a/b": { context_tokens: 0 } }, /`context_tokens` must be a whole number of 1 or more/],
    [{ "a/b": { context_tokens: "many" } }, /must be a whole number/],
    [{ "a/b": { vision: 1 } }, /`vision` must be `true` or `false`/],
    [{ "a/b": { price: 5 } }, /`price` must be a map with input and output/],
    [{ "a/b": { price: { input: 1 } } }, /with input and output/],
    [{ "a/b": { price: { input: 1, output: -1 } } }, /`output` must be a number of 0 or more/],
    [{ "a/b": { price: { input: 1, output: 1, outptu: 1 } } }, /Did you mean `output`\?/],
    [{ "a/b": { refuses: "temperature" } }, /`refuses` must be a list of: temperature/],
    [{ "a/b": { refuses: ["temprature"] } }, /Did you mean `temperature`\?/],
  ];
  for (const [models, message] of refusals) {
    it(`is refused as ${JSON.stringify(models)}`, () => {
      assert.throws(() => checkModels(models, "file:1:1: `models`"), {
        code: "invalid_request",
        message,
      });
    });
  }
});
