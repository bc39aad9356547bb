/** The model of `offshoot serve` when neither a flag nor a file names one. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { type PickedServed, pickServed } from "../../src/cli/pick-served.ts";
import { loadConfig } from "../../src/runtime/config/config.ts";
import { createNetwork } from "../../src/runtime/network.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";

async function startList(t: TestContext): Promise<string> {
  const server = createServer((_, response) =>
    response.end(JSON.stringify({ data: [{ id: "org/first" }, { id: "second" }] })),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`;
}

async function pick(
  t: TestContext,
  user: string,
  flags: Readonly<Record<string, string>>,
  // A vendor's key is sent only to addresses that were given for it.
  env: Readonly<Record<string, string>> = { OPENAI_API_KEY: "sk-1" },
): Promise<PickedServed> {
  const sandbox = createSandbox(t);
  put(sandbox.userFile, `probe_local: false\n${user}`);
  const network = createNetwork(env);
  t.after(() => network.close());
  return await pickServed(await loadConfig({ ...sandbox, env, flags }), network, { env });
}

describe("a server with an address and no model", () => {
  it("has the models of that address; requests that name none get the first", async (t) => {
    const url = await startList(t);
    const server = { provider: null, url, api_key_name: null };
    for (const [user, flags] of [
      ["", { url }],
      [`url: ${url}\n`, {}],
    ] as const) {
      const { usual, own } = await pick(t, user, flags);
      assert.deepEqual(own, { ...server, vendor: "custom" });
      assert.deepEqual(usual, { ...server, model: "custom/org/first" });
    }
  });

  it("starts while that address does not answer, and then needs a model in each request", async (t) => {
    const { usual, own } = await pick(t, "", { url: "http://127.0.0.1:9/v1" });
    assert.equal(usual, undefined);
    assert.equal(own?.url, "http://127.0.0.1:9/v1");
  });

  it("is as before if a model is named", async (t) => {
    const { usual, own } = await pick(t, "", { url: "http://127.0.0.1:9/v1", model: "up" });
    assert.equal(own, undefined);
    assert.deepEqual([usual?.model, usual?.url], ["custom/up", "http://127.0.0.1:9/v1"]);
  });
});

describe("a server whose default model needs a key that is not set", () => {
  const vendor = "vendors:\n  gpu1: {url: http://127.0.0.1:9/v1, api_key_name: GPU1_KEY}\n";

  it("says so at its start", async (t) => {
    const { keyProblem } = await pick(t, vendor, { model: "gpu1/toy" }, {});
    assert.match(keyProblem ?? "", /^`gpu1` needs a key in `GPU1_KEY`, which is not set\./);
  });

  it("says nothing if the key is set, or the model needs none", async (t) => {
    const known = await pick(t, vendor, { model: "gpu1/toy" }, { GPU1_KEY: "secret-1" });
    const embedded = await pick(t, vendor, { model: "embedded" }, {});
    const named = await pick(t, vendor, { model: "ollama/toy" }, {});
    const problems = [known, embedded, named].map(({ keyProblem }) => keyProblem);
    assert.deepEqual(problems, [undefined, undefined, undefined]);
  });
});

describe("a server without a key", () => {
  it("falls back to the embedded model, and knows that no model was chosen", async (t) => {
    const { usual } = await pick(t, "", {}, {});
    assert.deepEqual([usual?.model, usual?.fell_back], ["embedded/offline", true]);
  });

  it("has not fallen back where the user chose it", async (t) => {
    const flag = await pick(t, "", { model: "embedded" }, {});
    const file = await pick(t, "model: embedded\n", {}, {});
    for (const { usual } of [flag, file]) {
      assert.deepEqual([usual?.model, usual?.fell_back], ["embedded/offline", undefined]);
    }
  });
});
