import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chooseModel, type ModelQuery } from "../../../src/providers/models/choose-model.ts";
import { CATALOG, createCatalog } from "../../../src/providers/vendors/catalog.ts";
import type { LocalServer } from "../../../src/providers/vendors/local-servers.ts";

const OLLAMA: LocalServer = {
  vendor: "ollama",
  model: "qwen3:8b",
  baseUrl: "http://127.0.0.1:11434/v1",
};

const wishes = (asked: Partial<ModelQuery>): ModelQuery => ({
  explicit: undefined,
  env: {},
  findLocal: async () => undefined,
  ...asked,
});
const neverAsked = (): never => assert.fail("the machine was searched without need");

describe("chooseModel", () => {
  it("uses an explicit choice first and says where it was made", async () => {
    const choice = await chooseModel(
      wishes({
        explicit: { value: "gpt-5", source: "-m" },
        env: { GROQ_API_KEY: "k" },
        findLocal: neverAsked,
      }),
    );
    assert.deepEqual(choice, {
      ref: "openai/gpt-5",
      reason: "openai/gpt-5 (-m)",
      source: "explicit",
      baseUrl: undefined,
    });
  });

  it("uses the first vendor of the table whose key is set", async () => {
    const env = { XAI_API_KEY: "k", GROQ_API_KEY: "k", OPENAI_API_KEY: " " };
    const choice = await chooseModel(wishes({ env, findLocal: neverAsked }));
    assert.equal(choice.ref, "groq/openai/gpt-oss-120b");
    assert.equal(choice.source, "key");
    assert.match(choice.reason, /`GROQ_API_KEY` is set; choose with -m vendor\/model/);
  });

  it("never shows a key", async () => {
    const choice = await chooseModel(wishes({ env: { OPENAI_API_KEY: "sk-secret" } }));
    assert.doesNotMatch(JSON.stringify(choice), /sk-secret/);
  });

  it("skips keys of vendors that have no default model, and of local servers", async () => {
    const env = { AZURE_OPENAI_API_KEY: "k", HF_TOKEN: "k", LLAMA_API_KEY: "k" };
    assert.equal((await chooseModel(wishes({ env }))).source, "embedded");
  });

  it("uses a local server if no key is set", async () => {
    const choice = await chooseModel(wishes({ findLocal: async () => OLLAMA }));
    assert.deepEqual(choice, {
      ref: "ollama/qwen3:8b",
      reason:
        "ollama/qwen3:8b (no key set; found at 127.0.0.1:11434; choose with -m vendor/model, see `offshoot models`)",
      source: "local",
      baseUrl: "http://127.0.0.1:11434/v1",
    });
  });

  it("falls back to the embedded one and says how to choose another", async () => {
    assert.equal(
      (await chooseModel(wishes({}))).reason,
      "embedded/offline (no key, no local server found; choose with -m vendor/model, see `offshoot models`)",
    );
  });

  it("names a vendor of the settings, which is only asked by its name", async () => {
    const desk = { ...CATALOG.of("lmstudio"), defaultModel: undefined };
    const gpu1 = { ...desk, defaultModel: "qwen3-8b" };
    const reasonWith = async (own: Parameters<typeof createCatalog>[0]): Promise<string> =>
      (await chooseModel(wishes({ catalog: createCatalog(own) }))).reason;
    assert.match(
      await reasonWith({ gpu1 }),
      /see `offshoot models`; `gpu1` of your settings only by name: -m gpu1\/qwen3-8b\)$/,
    );
    assert.match(
      await reasonWith({ desk, gpu1 }),
      /; `desk` and 1 other vendor of your settings only by name: -m desk\/MODEL\)$/,
    );
  });

  it("rejects an explicit choice of an unknown model, even if a key is set", async () => {
    const explicit = { value: "opnai/x", source: "OFFSHOOT_MODEL" };
    await assert.rejects(chooseModel(wishes({ explicit, env: { OPENAI_API_KEY: "k" } })), {
      code: "invalid_request",
    });
  });

  it("takes unknown names for those of a server whose URL was given", async () => {
    const explicit = { value: "my-model", source: "-m" };
    const choice = await chooseModel(wishes({ explicit, otherwise: "custom" }));
    assert.equal(choice.ref, "custom/my-model");
  });
});
