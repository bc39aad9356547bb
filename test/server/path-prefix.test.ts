import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parsePathPrefix, pathBehind } from "../../src/server/path-prefix.ts";
import { createHealthRoutes } from "../../src/server/routes/health.ts";
import { createRoutes } from "../../src/server/routes.ts";
import { openServer } from "../../src/server/running/open-server.ts";
import { reply, script } from "../../src/testing/index.ts";
import { ANYBODY, createOpenGuard, startServer } from "./server-fixture.ts";
import { connectSocket, startSocketServer } from "./socket/socket-fixture.ts";

describe("a path before all addresses", () => {
  it("is needed, and nothing is at the address without it", async (t) => {
    const answers = script(reply.text("One."), reply.text("Two."));
    const server = await startServer(t, answers, { server: { prefix: "/keep" } });
    const { status, body } = await server.ask("POST", "/keep/v1/responses", { input: "Hi" });
    assert.equal(status, 200, JSON.stringify(body));
    const { id } = body as { id: string };
    const query = "/input_items?limit=1";
    assert.equal((await server.ask("GET", `/keep/v1/responses/${id}${query}`)).status, 200);
    assert.equal((await server.ask("POST", "/keep/v1/responses/", { input: "Hi" })).status, 200);
    for (const path of ["/v1/responses", "/keeping/v1/responses", "/keep", "/keep/", "/"]) {
      const refused = await server.ask("POST", path, { input: "Hi" });
      assert.equal(refused.status, 404, path);
    }
    const { body: told } = await server.ask("GET", `/v1/responses/${id}`);
    assert.match(JSON.stringify(told), /Addresses of this server begin with `\/keep`/);
  });

  it("is left out by what watches the process, too", async (t) => {
    const bench = await startServer(t, script());
    const health = { check: async () => undefined, notice: undefined };
    const server = await openServer({
      host: "127.0.0.1",
      port: 0,
      prefix: "/a/b",
      routes: [...createRoutes(bench.responses), ...createHealthRoutes(health)],
      guard: createOpenGuard(ANYBODY),
      body: { maxBytes: 1000, timeoutMs: 1000 },
      send: { keepAliveMs: 1000, commitMs: 1000 },
      onDefect: (thrown) => assert.fail(String(thrown)),
    });
    t.after(() => server.close());
    for (const path of ["/healthz", "/readyz", "/a/b/healthz", "/a/b/readyz?x=1"]) {
      const answer = await fetch(`${server.url}${path}`);
      assert.equal(answer.status, 200, path);
      await answer.text();
    }
    server.destroy();
  });

  it("is in front of the WebSocket, too", async (t) => {
    const socket = { prefix: "/keep" };
    const server = await startSocketServer(t, script(reply.text("Hello.")), { socket });
    const open = await connectSocket(`${server.url}/keep`);
    const events = await open.turn({ input: "Hi" });
    assert.equal(events.at(-1)?.response?.output_text, "Hello.");
    await assert.rejects(server.connect(), /404/);
  });

  it("a path prefix must be a path", () => {
    assert.deepEqual(["", "/", "/keep", "/keep/", " /a/b.c// "].map(parsePathPrefix), [
      "",
      "",
      "/keep",
      "/keep",
      "/a/b.c",
    ]);
    for (const wrong of ["keep", "/a b", "/a//b", "/a?b", "https://x/y", "/%41"]) {
      assert.throws(() => parsePathPrefix(wrong), { code: "invalid_request" }, wrong);
    }
    assert.equal(pathBehind("", "/v1/models"), "/v1/models");
  });
});
