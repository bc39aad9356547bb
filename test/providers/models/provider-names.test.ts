import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkProvider, wireFor } from "../../../src/providers/models/provider-names.ts";

describe("wireFor", () => {
  it("uses Responses for OpenAI, and chat if requested", () => {
    assert.equal(wireFor("openai", undefined), "openai-responses");
    assert.equal(wireFor("openai", "openai-responses"), "openai-responses");
    assert.equal(wireFor("openai", "openai-chat"), "openai-chat");
  });

  it("lists a vendor's wires if another one is requested", () => {
    assert.throws(() => wireFor("mistral", "openai-responses"), {
      code: "invalid_request",
      message: "`mistral` does not speak `openai-responses`. It speaks: openai-chat.",
    });
  });

  it("lists the providers for an unknown name", () => {
    assert.throws(() => checkProvider("zzz"), {
      code: "invalid_request",
      message: /^Unknown provider `zzz`\. Providers: openai-chat, openai-responses, .*embedded\.$/,
    });
  });

  it("guesses a mistyped provider, and points from a vendor's name to -m", () => {
    assert.throws(() => checkProvider("openai-chta"), /Did you mean `openai-chat`\?/);
    assert.throws(() => checkProvider("groq"), /choose it with -m groq\/MODEL/);
  });
});
