import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { pickModel } from "../../src/cli/pick-model.ts";
import { loadConfig } from "../../src/runtime/config/config.ts";
import { createSandbox, put } from "./sandbox.ts";

const SERVER = "http://127.0.0.1:9/v1";
const KEYS = { OPENAI_API_KEY: "sk-1", ANTHROPIC_API_KEY: "sk-2" };

interface Given {
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, string>>;
}

async function pick(t: TestContext, { user = "", env = {}, flags = {} }: Given) {
  const sandbox = createSandbox(t);
  put(sandbox.userFile, `probe_local: false\n${user}`);
  const config = await loadConfig({ ...sandbox, env: { ...KEYS, ...env }, flags });
  const network = { open: () => Promise.reject(new Error("nothing is sent here")) };
  return await pickModel(config, network, { env: { ...KEYS, ...env } });
}

describe("an address in a file or a variable", () => {
  const url = `url: ${SERVER}\n`;
  const rows: readonly [what: string, given: Given, ref: string, baseUrl: string | undefined][] = [
    [
      "gets no request for another vendor",
      { user: url, flags: { model: "openai/gpt-5.1" } },
      "openai/gpt-5.1",
      undefined,
    ],
    [
      "gets none as a variable",
      { env: { OFFSHOOT_URL: SERVER }, flags: { model: "openai/gpt-5.1" } },
      "openai/gpt-5.1",
      undefined,
    ],
    [
      "gets none for a file on this machine",
      { user: url, flags: { model: "gguf:a.gguf" } },
      "gguf:a.gguf",
      undefined,
    ],
    [
      "gets none for a local server",
      { user: url, flags: { model: "ollama/x" } },
      "ollama/x",
      undefined,
    ],
    [
      "gets none for `embedded`",
      { user: url, flags: { model: "embedded" } },
      "embedded/offline",
      undefined,
    ],
    ["gets models without a vendor", { user: url, flags: { model: "x" } }, "custom/x", SERVER],
    ["gets `custom`", { user: url, flags: { model: "custom/x" } }, "custom/x", SERVER],
    [
      "gets the vendor it was set with",
      { user: `${url}model: openai/gpt-5.1\n` },
      "openai/gpt-5.1",
      SERVER,
    ],
    [
      "gets another model of that vendor",
      { user: `${url}model: openai/gpt-5.1\n`, flags: { model: "openai/gpt-4.1" } },
      "openai/gpt-4.1",
      SERVER,
    ],
    [
      "does not get the model of another layer",
      { user: url, env: { OFFSHOOT_MODEL: "anthropic/claude-sonnet-4-5" } },
      "anthropic/claude-sonnet-4-5",
      undefined,
    ],
    [
      "gets the vendor of the provider it was set with",
      { user: `${url}provider: anthropic\n`, flags: { model: "x" } },
      "anthropic/x",
      SERVER,
    ],
  ];
  for (const [what, given, ref, baseUrl] of rows) {
    it(what, async (t) => {
      const picked = await pick(t, given);
      assert.equal(picked.ref, ref);
      assert.equal(picked.baseUrl, baseUrl);
      assert.equal(/`url` .* is for /.test(picked.reason), baseUrl === undefined, picked.reason);
    });
  }

  it("without a model is not used for a vendor only because its key is set", async (t) => {
    await assert.rejects(pick(t, { user: url }), /names a server, and nothing names a model of it/);
    await assert.rejects(pick(t, { flags: { url: SERVER } }), /nothing names a model/);
  });

  it("keeps the key that was named with it", async (t) => {
    const user = `${url}model: custom/x\napi_key_name: MINE\n`;
    assert.equal((await pick(t, { user })).apiKeyName, "MINE");
    assert.equal(
      (await pick(t, { user, flags: { model: "openai/gpt-5.1" } })).apiKeyName,
      undefined,
    );
    const alone = { user: "api_key_name: MINE\n", flags: { model: "openai/gpt-5.1" } };
    assert.equal((await pick(t, alone)).apiKeyName, "MINE");
  });

  it("gets no key that was named in another layer", async (t) => {
    const user = "api_key_name: MINE\n";
    const env = { OFFSHOOT_URL: SERVER };
    const picked = await pick(t, { user, env, flags: { model: "custom/x" } });
    assert.deepEqual([picked.baseUrl, picked.apiKeyName], [SERVER, undefined]);
    const flags = { url: SERVER };
    const named = "model: openai/gpt-5.1\napi_key_name: MINE\n";
    await assert.rejects(pick(t, { user: named, flags }), /would get the key of `openai`/);
    const said = { ...flags, model: "custom/x", "api-key-name": "MINE" };
    assert.equal((await pick(t, { flags: said })).apiKeyName, "MINE");
  });
});

describe("an address for one run", () => {
  it("gets a vendor's key only if the command line names the vendor too", async (t) => {
    const user = "model: openai/gpt-5.1\n";
    const flags = { url: SERVER };
    await assert.rejects(pick(t, { user, flags }), /would get the key of `openai`.*-m openai/);
    const said = await pick(t, { user, flags: { ...flags, model: "openai/gpt-5.1" } });
    assert.equal(said.baseUrl, SERVER);
    assert.equal((await pick(t, { user: "model: custom/x\n", flags })).baseUrl, SERVER);
  });
});
