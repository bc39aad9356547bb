/** The models of the vendors that the settings add. */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import { toCatalog } from "../../../src/runtime/config/config-vendors.ts";
import { createVendorModels } from "../../../src/runtime/served-models/vendor-models.ts";
import { createManualClock } from "../../../src/testing/index.ts";

async function start(t: TestContext): Promise<{ origin: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    response.end(JSON.stringify({ data: [{ id: "org/a", created: 7 }, { id: "b" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function list(t: TestContext, vendors: JsonObject, env: Record<string, string>) {
  const transport = createTransport({});
  t.after(() => transport.close());
  const parts = { env, clock: createManualClock(), transport: async () => transport };
  return await createVendorModels({ ...parts, catalog: toCatalog(vendors) })();
}

describe("the models of vendors of the settings", () => {
  it("are those that the settings list, and no server is asked", async (t) => {
    const { origin, asked } = await start(t);
    const vendors = { gpu1: { url: origin, models: { one: {}, "many-*": {} } } };
    assert.deepEqual(await list(t, vendors, {}), [
      { id: "gpu1/one", created: 0, owned_by: "gpu1" },
    ]);
    assert.equal(asked.length, 0);
  });

  it("are otherwise those of the server's own list, asked with its key and headers", async (t) => {
    const { origin, asked } = await start(t);
    const vendors = {
      gpu1: { url: `${origin}/v1`, api_key_name: "KEY", headers: { "x-team": "$TEAM" } },
      box: { like: "ollama", url: origin },
      down: { url: "http://127.0.0.1:9/v1" },
      cloud: { like: "bedrock", url: origin },
    };
    const models = await list(t, vendors, { KEY: "key-1", TEAM: "team-1" });
    assert.deepEqual(
      models.map(({ id }) => id),
      ["gpu1/org/a", "gpu1/b", "box/org/a", "box/b"],
    );
    const [first] = asked.filter(({ headers }) => headers["x-team"] === "team-1");
    assert.equal(first?.headers.authorization, "Bearer key-1");
    assert.deepEqual(
      asked.map(({ url }) => url),
      ["/v1/models", "/v1/models"],
    );
  });

  it("are none if a key is missing, and nothing is sent", async (t) => {
    const { origin, asked } = await start(t);
    assert.deepEqual(await list(t, { gpu1: { url: origin, api_key_name: "KEY" } }, {}), []);
    assert.equal(asked.length, 0);
  });
});
