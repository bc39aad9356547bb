import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatModelRef, parseModelRef } from "../../../src/providers/models/model-ref.ts";
import { CATALOG, createCatalog } from "../../../src/providers/vendors/catalog.ts";

describe("parseModelRef", () => {
  const cases = [
    ["openai/gpt-5", "openai/gpt-5"],
    [" openai/gpt-5 ", "openai/gpt-5"],
    ["openai/a-model-of-tomorrow", "openai/a-model-of-tomorrow"],
    ["openrouter/anthropic/claude-opus-5", "openrouter/anthropic/claude-opus-5"],
    ["groq/openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"],
    ["gpt-5", "openai/gpt-5"],
    ["gpt-5-2025-08-07", "openai/gpt-5-2025-08-07"],
    ["grok-4.7", "xai/grok-4.7"],
    ["openai", "openai/gpt-6.1-terra"],
    ["embedded", "embedded/offline"],
    ["embedded/offline", "embedded/offline"],
    ["ollama/qwen3:8b", "ollama/qwen3:8b"],
  ] as const;
  for (const [written, meant] of cases) {
    it(`takes \`${written}\` for ${meant}`, () => {
      assert.equal(formatModelRef(parseModelRef(written)), meant);
    });
  }

  it("gives an unknown name to the default vendor", () => {
    assert.deepEqual(parseModelRef("my/own-model", "custom"), {
      vendor: "custom",
      model: "my/own-model",
    });
    assert.deepEqual(parseModelRef("gpt-5", "custom"), { vendor: "openai", model: "gpt-5" });
  });

  it("guesses a mistyped vendor, and says where they are listed", () => {
    assert.throws(() => parseModelRef("opnai/gpt-5"), {
      code: "invalid_request",
      message:
        /^Unknown vendor `opnai`\. Did you mean `openai\/gpt-5`\? Write vendor\/model; `offshoot models --all` lists them\.$/,
    });
  });

  it("names several vendors that are equally near, and those of the settings", () => {
    const catalog = createCatalog({ gpu1: CATALOG.of("vllm"), gpu2: CATALOG.of("vllm") });
    assert.throws(() => parseModelRef("gpu3/qwen", undefined, catalog), {
      message: /Did you mean `gpu1\/qwen` or `gpu2\/qwen`\? .* Yours: gpu1, gpu2\.$/,
    });
  });

  it("guesses a mistyped model with its vendor", () => {
    assert.throws(() => parseModelRef("gtp-4.1-mini"), /Did you mean `openai\/gpt-4.1-mini`\?/);
    assert.throws(() => parseModelRef("zzzzzzzzzzzz"), /^Failure: Unknown model or vendor/);
  });

  it("asks for a model if a vendor has no default", () => {
    assert.throws(() => parseModelRef("ollama"), /Name one: ollama\/MODEL\./);
    assert.throws(() => parseModelRef("ollama/"), /Name one: ollama\/MODEL\./);
  });

  it("refuses a vendor with a slash and no model", () => {
    assert.throws(
      () => parseModelRef("openai/"),
      /`openai\/` names no model\. Write openai\/MODEL, or openai for /,
    );
  });

  it("refuses an empty name and an unknown embedded model", () => {
    assert.throws(() => parseModelRef("  "), { code: "invalid_request" });
    assert.throws(() => parseModelRef("embedded/big"), /There is: embedded\/offline\./);
  });
});
