import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { providerOf } from "../../src/runtime/child-processes.ts";

describe("the provider that a child's payload names", () => {
  for (const [model, url, provider] of [
    ["openai/gpt-5.1", null, "openai-responses"],
    ["anthropic/claude-sonnet-5-5", null, "anthropic"],
    ["custom/m", "http://127.0.0.1:1/v1", "openai-chat"],
    ["ollama/x", null, "ollama"],
    ["embedded", null, "embedded"],
    ["gguf:model.gguf", null, null],
  ] as const) {
    it(`is ${provider} for ${model}`, () => {
      assert.equal(providerOf({ model, url }), provider);
    });
  }
});
