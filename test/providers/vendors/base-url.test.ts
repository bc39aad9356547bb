import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { baseForWire, baseUrlOf } from "../../../src/providers/vendors/base-url.ts";
import { vendorOf } from "../../../src/providers/vendors/catalog.ts";

describe("baseUrlOf", () => {
  const cases = [
    ["openai", undefined, {}, "https://api.openai.com/v1"],
    ["openai", undefined, { OPENAI_BASE_URL: "http://proxy:4000/v1/" }, "http://proxy:4000/v1"],
    ["openai", "http://here:1/v1", { OPENAI_BASE_URL: "http://there/" }, "http://here:1/v1"],
    ["openai", undefined, { OPENAI_BASE_URL: "" }, "https://api.openai.com/v1"],
    [
      "azure",
      undefined,
      { AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com/" },
      "https://me.openai.azure.com/openai/v1",
    ],
    [
      "azure",
      undefined,
      { AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com/openai/v1/" },
      "https://me.openai.azure.com/openai/v1",
    ],
    [
      "azure",
      undefined,
      { AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com?api-version=2024-10-21" },
      "https://me.openai.azure.com/openai/v1?api-version=2024-10-21",
    ],
    [
      "databricks",
      undefined,
      { DATABRICKS_HOST: "me.cloud.databricks.com" },
      "https://me.cloud.databricks.com/serving-endpoints",
    ],
    [
      "cloudflare",
      undefined,
      { CLOUDFLARE_ACCOUNT_ID: "abc123" },
      "https://api.cloudflare.com/client/v4/accounts/abc123/ai/v1",
    ],
    [
      "mantle",
      undefined,
      { AWS_REGION: "eu-west-1" },
      "https://bedrock-mantle.eu-west-1.api.aws/v1",
    ],
    [
      "claudeaws",
      undefined,
      { AWS_REGION: "us-west-2" },
      "https://aws-external-anthropic.us-west-2.api.aws/v1",
    ],
    ["ollama", undefined, { OLLAMA_HOST: "0.0.0.0" }, "http://127.0.0.1:11434"],
    ["ollama", undefined, { OLLAMA_HOST: "box:8000" }, "http://box:8000"],
    ["ollama", undefined, { OLLAMA_HOST: ":8000" }, "http://127.0.0.1:8000"],
    ["ollama", undefined, { OLLAMA_HOST: "https://box" }, "https://box"],
    ["custom", "http://127.0.0.1:9/api/", {}, "http://127.0.0.1:9/api"],
  ] as const;
  for (const [vendor, url, env, expected] of cases) {
    it(`finds ${expected} for ${vendor} from ${url ?? JSON.stringify(env)}`, () => {
      assert.equal(baseUrlOf(vendor, { url, env }), expected);
    });
  }

  it("explains how to give a URL that only the user knows", () => {
    assert.throws(() => baseUrlOf("azure", { url: undefined, env: {} }), {
      code: "invalid_request",
      message: "`azure` needs a base URL: give it with --url or in `AZURE_OPENAI_ENDPOINT`.",
    });
    assert.throws(() => baseUrlOf("custom", { url: undefined, env: {} }), /give it with --url\./);
  });

  it("names the variable that is missing in the address, and accepts only a valid name", () => {
    const of = (env: Record<string, string>) => () =>
      baseUrlOf("snowflake", { url: undefined, env });
    const needs = "The address of `snowflake` needs the variable `SNOWFLAKE_ACCOUNT`, which";
    assert.throws(of({}), { code: "invalid_request", message: `${needs} is not set.` });
    const message = `${needs} is not valid in an address.`;
    assert.throws(of({ SNOWFLAKE_ACCOUNT: "evil.example/x" }), { message });
  });

  it("refuses an invalid URL", () => {
    for (const url of ["nonsense", "file:///etc/passwd", ""]) {
      assert.throws(() => baseUrlOf("custom", { url, env: {} }), { code: "invalid_request" });
    }
  });
});

describe("baseForWire", () => {
  const rows = [
    ["ollama", "http://box:11434", "http://box:11434"],
    ["ollama", "http://box:11434/v1", "http://box:11434"],
    ["openai-chat", "http://box:11434", "http://box:11434/v1"],
    ["openai-chat", "https://box/proxy/v1", "https://box/proxy/v1"],
  ] as const;
  for (const [wire, given, base] of rows) {
    it(`speaks ${wire} below ${base} when it is given ${given}`, () => {
      assert.equal(baseForWire(vendorOf("ollama"), wire, given), base);
    });
  }

  it("leaves the base of other vendors unchanged", () => {
    const openai = vendorOf("openai");
    assert.equal(baseForWire(openai, "openai-chat", "https://a/v1"), "https://a/v1");
  });
});
