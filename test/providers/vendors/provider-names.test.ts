import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkProvider, wireFor } from "../../../src/providers/vendors/provider-names.ts";

describe("wireFor", () => {
  it("speaks Responses to OpenAI, and chat when asked to", () => {
    assert.equal(wireFor("openai", undefined), "openai-responses");
    assert.equal(wireFor("openai", "openai-responses"), "openai-responses");
    assert.equal(wireFor("openai", "openai-chat"), "openai-chat");
  });

  it("says what a vendor speaks when asked for what it does not", () => {
    assert.throws(() => wireFor("mistral", "openai-responses"), {
      code: "invalid_request",
      message: "`mistral` does not speak `openai-responses`. It speaks: openai-chat.",
    });
  });

  it("lists the providers for a name that is none", () => {
    assert.throws(() => checkProvider("zzz"), {
      code: "invalid_request",
      message:
        /^There is no provider `zzz`\. Providers: openai-chat, openai-responses, .*embedded\.$/,
    });
  });

  it("guesses a mistyped provider, and points from a vendor's name to -m", () => {
    assert.throws(() => checkProvider("openai-chta"), /Did you mean `openai-chat`\?/);
    assert.throws(() => checkProvider("groq"), /choose it with -m groq\/MODEL/);
  });
});
