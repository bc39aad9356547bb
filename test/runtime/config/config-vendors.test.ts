import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { findModel } from "../../../src/providers/models/models.ts";
import { loadConfig } from "../../../src/runtime/config/config.ts";
import { readConfigFile } from "../../../src/runtime/config/config-file.ts";
import {
  checkVendors,
  toCatalog,
  toVendorModels,
} from "../../../src/runtime/config/config-vendors.ts";
import { writeSetting } from "../../../src/runtime/config/config-write.ts";
import { trust } from "../../../src/runtime/trust.ts";
import { createSandbox, put } from "../sandbox.ts";

const URL = "http://gpu-1:8000/v1";

describe("the setting `vendors`", () => {
  it("makes a vendor of each row, with the behaviour of the vendor that it is like", () => {
    const catalog = toCatalog({
      gpu1: { like: "vllm", url: `${URL}/`, api_key_name: "GPU1_KEY" },
      plain: { url: URL },
      claude: { provider: "anthropic", url: URL, api_key_name: "K" },
      eu: { like: "bedrock", url: "https://bedrock-runtime.eu-central-1.amazonaws.com" },
    });
    assert.deepEqual(catalog.own, ["gpu1", "plain", "claude", "eu"]);
    assert.ok(catalog.names.includes("openai") && catalog.names.includes("gpu1"));
    const { wire, baseUrl, keyVariable, quirks, like, local } = catalog.of("gpu1");
    assert.deepEqual(
      [wire, baseUrl, keyVariable, like, local],
      [...["openai-chat", URL, "GPU1_KEY", "vllm", true]],
    );
    assert.ok(quirks.thinkingOff);
    const rows = ["plain", "claude", "eu"].map((name) => catalog.of(name));
    assert.deepEqual(
      rows.map((row) => [row.wire, row.auth, row.keyVariable]),
      [
        ["openai-chat", "bearer", undefined],
        ["anthropic", "x-api-key", "K"],
        ["bedrock", "aws", undefined],
      ],
    );
    assert.equal(catalog.has("constructor"), false);
  });

  it("gives the facts of the models, and the first is the vendor's default", () => {
    const vendors = {
      gpu1: { url: URL, models: { "Qwen/Qwen3-8B": { context_tokens: 9 }, small: null } },
      gate: { like: "openai", url: URL },
    };
    const rows = toVendorModels(checkVendors(vendors, "file"));
    assert.equal(findModel("gpu1", "Qwen/Qwen3-8B", rows).contextTokens, 9);
    const catalog = toCatalog(vendors);
    assert.equal(catalog.of("gpu1").defaultModel, "Qwen/Qwen3-8B");
    // A model has the same abilities behind a company's gateway; its price is not the same.
    const lent = findModel("gate", "gpt-5", rows, catalog.of("gate").like);
    assert.ok(lent.refuses.includes("temperature"));
    assert.equal(lent.price, undefined);
  });

  const refusals: readonly [JsonObject, RegExp][] = [
    [
      { openai: { url: URL } },
      /`openai` is the name of a built-in vendor\. .*`like: openai`.*`OPENAI_BASE_URL`/,
    ],
    [{ embedded: { url: URL } }, /`embedded` cannot be a vendor's name/],
    [{ "a/b": { url: URL } }, /`a\/b` cannot be a vendor's name/],
    [{ __proto: { url: URL } }, /cannot be a vendor's name/],
    [{ gpu1: URL }, /`gpu1` must be a map with some of: url, like/],
    [{ gpu1: {} }, /`gpu1` needs `url`/],
    [{ gpu1: { url: "gpu-1:8000" } }, /`url` must be an http or https URL/],
    [{ gpu1: { url: 8000 } }, /`url` must be an http or https URL/],
    [{ gpu1: { url: URL, adress: 1 } }, /`gpu1` does not know `adress`/],
    [{ gpu1: { url: URL, provider: "openai-caht" } }, /Did you mean `openai-chat`\?/],
    [{ gpu1: { url: URL, like: "vlm" } }, /Did you mean `vllm`\?/],
    [
      { gpu1: { url: URL, like: "vllm", provider: "gemini" } },
      /`vllm` does not speak `gemini`\. It speaks: openai-chat, openai-responses/,
    ],
    [
      { gpu1: { url: URL, api_key_name: "a key" } },
      /`api_key_name` must be the name of an environment variable, not a key/,
    ],
    [{ gpu1: { url: URL, auth: "basic" } }, /`auth` does not know `basic`/],
    [{ gpu1: { url: URL, headers: { "a b": "c" } } }, /`headers`: `a b` is not a header name/],
    [{ gpu1: { url: URL, options: { stream: false } } }, /`options` cannot set `stream`/],
    [{ gpu1: { url: URL, models: ["a"] } }, /`models` must be a map by the names of its models/],
    [
      { gpu1: { url: URL, models: { a: { context_tokens: 0 } } } },
      /`models`: `a`: `context_tokens` must be a whole number/,
    ],
  ];
  for (const [vendors, message] of refusals) {
    it(`is refused as ${JSON.stringify(vendors)}`, () => {
      const check = (): unknown => checkVendors(vendors, "file:1:1: `vendors`");
      assert.throws(check, (thrown: Error) => {
        assert.match(thrown.message, /^file:1:1: `vendors`: `[^\n]+$/);
        assert.match(thrown.message, message);
        return true;
      });
    });
  }
});

describe("a file with vendors", () => {
  it("says where a mistake is, and shows no key", async (t) => {
    const { userFile } = createSandbox(t);
    put(userFile, `model: a/b\nvendors:\n  gpu1: {url: "${URL}", api_key_nam: X}\n`);
    const wrong = `${userFile}:2:1: \`vendors\`: \`gpu1\` does not know \`api_key_nam\`. Did you mean \`api_key_name\`?`;
    await assert.rejects(readConfigFile(userFile), { message: wrong });
    put(userFile, `vendors:\n  gpu1: {url: "${URL}", api_key_name: sk-abcdefgh0123456789}\n`);
    await assert.rejects(readConfigFile(userFile), (thrown: Error) => {
      assert.match(thrown.message, /:1:1: This looks like a key/);
      return !thrown.message.includes("0123456789");
    });
  });

  it("may name them in other settings, above or below, and in the files after it", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, `server.models: {fast: gpu1/q}\nvendors: {gpu1: {url: "${URL}"}}\n`);
    const config = await loadConfig(sandbox);
    assert.deepEqual(config.get("server.models"), { fast: "gpu1/q" });
    const env = {
      OFFSHOOT_VENDORS: `{"gpu2": {"url": "${URL}"}}`,
      OFFSHOOT_SERVER_MODELS: '{"a": "gpu1/q", "b": "gpu2/q"}',
    };
    const both = await loadConfig({ ...sandbox, env });
    assert.deepEqual(Object.keys(both.get("vendors") ?? {}), ["gpu1", "gpu2"]);
    put(sandbox.userFile, "server.models: {fast: gpu1/q}\n");
    await assert.rejects(loadConfig(sandbox), /`fast`: Unknown vendor `gpu1`/);
  });

  it("is written by `config set`, also if the value names one of them", async (t) => {
    const { userFile: file, trustFile } = createSandbox(t);
    const vendors = { gpu1: { url: URL } };
    await writeSetting({ file, trustFile, name: "vendors", text: JSON.stringify(vendors) });
    const named = { file, trustFile, name: "server.models", text: '{"fast": "gpu1/q"}' } as const;
    await writeSetting({ ...named, vendors });
    assert.deepEqual((await readConfigFile(file))?.settings.get("server.models"), {
      fast: "gpu1/q",
    });
  });

  it("of a project is used only when it is trusted: it could send a key elsewhere", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, `vendors: {gpu1: {url: "${URL}", api_key_name: GPU1_KEY}}\n`);
    put(
      sandbox.projectFile,
      "vendors: {gpu1: {url: 'http://evil.example', api_key_name: GPU1_KEY}}\n",
    );
    const config = await loadConfig(sandbox);
    assert.equal(toCatalog(config.get("vendors")).of("gpu1").baseUrl, URL);
    assert.match(config.warnings.join(), /is not trusted, so `vendors` in it is ignored/);
    const file = (await readConfigFile(sandbox.projectFile)) ?? assert.fail();
    await trust(sandbox.trustFile, file);
    const trusted = toCatalog((await loadConfig(sandbox)).get("vendors"));
    assert.equal(trusted.of("gpu1").baseUrl, "http://evil.example");
  });
});
