import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRedact, findSecrets } from "../../src/base/redact.ts";

describe("redact", () => {
  it("replaces known secrets wherever they stand", () => {
    const redact = createRedact(["hunter2-hunter2"]);
    assert.equal(redact("at hunter2-hunter2, ahunter2-hunter2b"), "at [redacted], a[redacted]b");
  });

  it("replaces the longer of two secrets that begin alike", () => {
    const redact = createRedact(["secret", "secret-and-more"]);
    assert.equal(redact("secret-and-more, secret"), "[redacted], [redacted]");
  });

  it("takes a secret's characters as they are, not as a pattern", () => {
    assert.equal(createRedact(["a.*b$&c"])("a.*b$&c axxb$&c"), "[redacted] axxb$&c");
  });

  it("leaves words alone that a short key happens to be", () => {
    assert.equal(createRedact(["", "key", "token"])("a key and a token"), "a key and a token");
  });

  // Made of parts, so that no scanner takes them for keys.
  const shapes: readonly [name: string, text: string, secret: string][] = [
    ["a bearer header", "Authorization: Bearer abcDEF123._~+/=-", "abcDEF123"],
    ["a basic header", "authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"],
    ["an OpenAI key", `key ${"sk-"}proj-abcdefghij0123456789 was refused`, "abcdefghij"],
    ["a Groq key", `${"gsk_"}abcdefghij0123456789`, "abcdefghij"],
    ["an xAI key", `${"xai-"}abcdefghij0123456789`, "abcdefghij"],
    ["a Hugging Face token", `${"hf_"}abcdefghij0123456789`, "abcdefghij"],
    ["a GitHub token", `${"ghp_"}abcdefghij0123456789`, "abcdefghij"],
    ["a Google key", `?key=${"AIza"}SyAbcdefghij0123456789`, "Abcdefghij"],
    ["a query parameter", "GET /v1?api_key=abc123def&x=1", "abc123def"],
    ["a JSON field", '{"apiKey": "abc123def", "model": "m"}', "abc123def"],
    ["a header of its own", "x-api-key: abc123def", "abc123def"],
    ["a password", "password='abc123def'", "abc123def"],
  ];
  for (const [name, text, secret] of shapes) {
    it(`replaces what looks like a secret: ${name}`, () => {
      const clean = createRedact([])(text);
      assert.ok(!clean.includes(secret), clean);
      assert.match(clean, /\[redacted\]/);
    });
  }

  it("keeps what stands around a secret", () => {
    const redact = createRedact([]);
    assert.equal(redact("GET /v1?api_key=abc123def&x=1"), "GET /v1?api_key=[redacted]&x=1");
    assert.equal(redact('{"apiKey": "abc123def", "a": 1}'), '{"apiKey": "[redacted]", "a": 1}');
  });

  it("leaves ordinary words and file names alone", () => {
    for (const text of [
      "skeleton-component-loader.ts is missing",
      "the skateboarding_championships",
      "a bearer of bad news",
      "the password is wrong",
      "call_01k9x2m4c8abcdefghjkmnpqrs",
    ]) {
      assert.equal(createRedact([])(text), text);
    }
  });
});

describe("findSecrets", () => {
  it("takes the values of variables that are named for secrets", () => {
    const env = {
      OPENAI_API_KEY: "one",
      gh_token: "two",
      DB_PASSWORD: "three",
      AWS_SECRET_ACCESS: "four",
      SERVICE_CREDENTIAL: "five",
      HOME: "/home/me",
      EMPTY_KEY: undefined,
    };
    assert.deepEqual(findSecrets(env), ["one", "two", "three", "four", "five"]);
  });

  it("takes no path to a secret for the secret", () => {
    const env = {
      GOOGLE_APPLICATION_CREDENTIALS: "/home/me/key.json",
      AWS_WEB_IDENTITY_TOKEN_FILE: "/run/token",
      AWS_SECRET_ACCESS_KEY: "/starts/like/a/path",
    };
    assert.deepEqual(findSecrets(env), ["/starts/like/a/path"]);
  });
});
