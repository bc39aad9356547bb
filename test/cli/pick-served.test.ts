/** What `offshoot serve` asks where neither a flag nor a file names a model. */

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
  // A key of a vendor's goes to no address that nobody has given for it.
  env: Readonly<Record<string, string>> = { OPENAI_API_KEY: "sk-1" },
): Promise<PickedServed> {
  const sandbox = createSandbox(t);
  put(sandbox.userFile, `probe_local: false\n${user}`);
  const network = createNetwork(env);
  t.after(() => network.close());
  return await pickServed(await loadConfig({ ...sandbox, env, flags }), network, { env });
}

describe("a server with an address and no model", () => {
  it("has the models of that address, the first of them where a request names none", async (t) => {
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

  it("starts while nothing answers there, and then needs each request to name its model", async (t) => {
    const { usual, own } = await pick(t, "", { url: "http://127.0.0.1:9/v1" });
    assert.equal(usual, undefined);
    assert.equal(own?.url, "http://127.0.0.1:9/v1");
  });

  it("is as before where a model is named", async (t) => {
    const { usual, own } = await pick(t, "", { url: "http://127.0.0.1:9/v1", model: "up" });
    assert.equal(own, undefined);
    assert.deepEqual([usual?.model, usual?.url], ["custom/up", "http://127.0.0.1:9/v1"]);
  });
});

describe("a server without a key", () => {
  it("falls back to the embedded model, and knows that nobody chose it", async (t) => {
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
