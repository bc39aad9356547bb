import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { takesUrls } from "../../src/runtime/model-media.ts";

describe("what fetches an address in a request", () => {
  const none = { images: false, files: false };
  const cases = [
    ["openai/gpt-5", null, null, { images: true, files: true }],
    ["openai/gpt-5", "openai-chat", null, { images: true, files: false }],
    ["anthropic/claude-sonnet-5-5", null, null, { images: true, files: true }],
    ["cohere/command-a-plus-05-2026", null, null, { images: true, files: false }],
    ["gemini/gemini-3.8-flash", null, null, none],
    ["bedrock/some-model", null, null, none],
    ["ollama/llama3", null, null, none],
    ["openai/gpt-5", null, "http://10.0.0.7/v1", none],
    ["embedded/offline", null, null, { images: true, files: false }],
  ] as const;
  for (const [model, provider, url, takes] of cases) {
    const who = takes === none ? "this server" : "the vendor";
    it(`is ${who} for ${model}${provider ? ` on ${provider}` : ""}${url ? " at an address" : ""}`, () => {
      assert.deepEqual(takesUrls({ model, provider, url }), takes);
    });
  }
});
