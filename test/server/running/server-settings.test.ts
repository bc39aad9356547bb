import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { loadConfig } from "../../../src/runtime/config/config.ts";
import {
  type ServerSettings,
  toServerSettings,
} from "../../../src/server/running/server-settings.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";

describe("the server's settings", () => {
  const read = async (
    t: TestContext,
    file: string,
    options: { env?: Record<string, string>; isTerminal?: boolean; noStore?: boolean } = {},
  ): Promise<ServerSettings> => {
    const { env = {}, isTerminal = false, noStore = false } = options;
    const sandbox = createSandbox(t);
    put(sandbox.userFile, file);
    const config = await loadConfig({ ...sandbox, env });
    return toServerSettings(config, { env, cwd: sandbox.cwd, stderr: { isTerminal }, noStore });
  };

  it("are safe by default", async (t) => {
    const { host, port, workers, guard, responses, log, tls, auditKeptMs } = await read(t, "");
    assert.deepEqual([auditKeptMs, responses.maxQueued], [90 * 86_400_000, 1000]);
    assert.deepEqual([host, port, workers, tls], ["127.0.0.1", 8484, 1, undefined]);
    assert.deepEqual([guard.auth, guard.origins, guard.hosts], [true, [], []]);
    assert.deepEqual([responses.store, responses.ttlMs], [true, 30 * 86_400_000]);
    assert.equal(log, "json");
    assert.equal((await read(t, "", { isTerminal: true })).log, "text");
  });

  it("take an empty text for a server that asks for no key, in the file and as a variable", async (t) => {
    const models = ["server:", "  image_model: draw", "  embeddings_model: embed"];
    const named = await read(t, models.join("\n"));
    assert.equal(named.hosted.images?.api_key_name, "OPENAI_API_KEY");
    assert.equal(named.hosted.embeddings?.api_key_name, "OPENAI_API_KEY");
    const none = ["  image_api_key_name: ''", "  embeddings_api_key_name: ''"];
    const env = {
      OFFSHOOT_SERVER_IMAGE_API_KEY_NAME: "",
      OFFSHOOT_SERVER_EMBEDDINGS_API_KEY_NAME: "",
    };
    for (const keyless of [
      await read(t, [...models, ...none].join("\n")),
      await read(t, models.join("\n"), { env }),
    ]) {
      assert.equal(keyless.hosted.images?.api_key_name, null);
      assert.equal(keyless.hosted.embeddings?.api_key_name, null);
    }
  });

  it("come from maps in maps, with the models that names mean", async (t) => {
    const file = [
      "server:",
      "  keep_days: 0",
      "  audit_days: 0",
      "  max_queued: 7",
      "  storage_bytes: 1000000",
      "  models:",
      "    fast: openai/gpt-5.1",
      "    'local-*': { model: llama, url: 'http://127.0.0.1:9/v1', provider: openai-chat }",
    ].join("\n");
    const { named, responses, auditKeptMs, guard } = await read(t, file, { noStore: true });
    assert.equal(guard.storageBytes, 1_000_000);
    assert.deepEqual([auditKeptMs, responses.maxQueued], [null, 7]);
    assert.deepEqual(named, [
      ["fast", { model: "openai/gpt-5.1", provider: null, url: null, api_key_name: null }],
      [
        "local-*",
        {
          model: "custom/llama",
          provider: "openai-chat",
          url: "http://127.0.0.1:9/v1",
          api_key_name: null,
        },
      ],
    ]);
    assert.deepEqual([responses.store, responses.ttlMs], [false, null]);
  });

  it("are refused with the place where they do not go together", async (t) => {
    const cases = [
      { file: "server: { tls_cert: a.pem }", message: /HTTPS needs both/ },
      {
        file: "store: false\nserver: { workers: 2 }",
        message: /share their record, and `store` is off/,
      },
      {
        file: "server: { models: { a: nobody/x } }",
        message: /config\.yaml:1:\d+: .*`a`: Unknown vendor/,
      },
      { file: "server: { models: { a: { modle: x } } }", message: /Did you mean `model`/ },
      { file: "server: { models: { a: 5 } }", message: /`a`: It must be `vendor\/model`/ },
      {
        file: "server: { models: { a: { model: openai/x, provider: nonsense } } }",
        message: /nonsense/,
      },
    ];
    for (const { file, message } of cases) {
      await assert.rejects(read(t, file), { code: "invalid_request", message }, file);
    }
  });

  it("of a project's file have no effect", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "server: { auth: false, host: 0.0.0.0, origins: ['*'] }\n");
    const config = await loadConfig({ ...sandbox, env: {} });
    assert.deepEqual(
      [config.get("server.auth"), config.get("server.host"), config.get("server.origins")],
      [true, "127.0.0.1", []],
    );
    assert.equal(config.warnings.length, 1);
  });
});
