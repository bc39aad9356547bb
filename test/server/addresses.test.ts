/** Addresses as clients and probes write them, and what every failure carries. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRoutes } from "../../src/server/routes.ts";
import { UNSERVED } from "../../src/server/unserved.ts";
import { reply, respond, script } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

describe("addresses", () => {
  it("are asked with HEAD as with GET, without the body", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Hello.")),
    );
    const { id } = await server.create({ input: "Hi" });
    for (const query of ["", "?stream=true"]) {
      const address = `${server.url}/v1/responses/${id}${query}`;
      const head = await fetch(address, { method: "HEAD" });
      const get = await fetch(address);
      assert.deepEqual([head.status, await head.text()], [200, ""]);
      assert.equal(head.headers.get("content-type"), get.headers.get("content-type"));
      await get.text();
    }
    const made = await fetch(`${server.url}/v1/responses`, { method: "HEAD" });
    assert.equal(made.status, 405);
  });

  it("refuse a wrong method in the form of their API", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Hello.")),
    );
    const refused = async (path: string): Promise<object> => {
      const answer = await fetch(`${server.url}${path}`, { method: "PUT" });
      assert.equal(answer.status, 405);
      return (await answer.json()) as object;
    };
    assert.ok("jsonrpc" in (await refused("/mcp")));
    assert.equal(((await refused("/v1/messages")) as { type: string }).type, "error");
    assert.deepEqual(Object.keys(await refused("/v1/responses")), ["error"]);
  });

  it("may end with a slash", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Hello.")),
    );
    const made = await server.ask("POST", "/v1/responses/", { input: "Hi" });
    assert.equal(made.status, 200);
    const { id } = made.body as { id: string };
    assert.equal((await server.ask("GET", `/v1/responses/${id}/`)).status, 200);
    assert.equal((await server.ask("GET", "/v1/responses//")).status, 404);
  });

  it("that are not served say so, and what is", async (t) => {
    const server = await startServer(t, script());
    const routes = createRoutes(server.responses);
    for (const { path, instead } of UNSERVED) {
      assert.ok(!routes.some((route) => route.path.startsWith(path)), `${path} is served`);
      for (const address of [path, `${path}/more/of_it`]) {
        const { status, body } = await server.ask("POST", address, { model: "m" });
        const { error } = body as { error: Record<string, unknown> };
        assert.equal(status, 404);
        // Errors of the Messages API have no code.
        const code = path.startsWith("/v1/messages/") ? undefined : "not_found";
        assert.deepEqual([error["type"], error["code"]], ["not_found_error", code]);
        assert.ok(String(error["message"]).startsWith(`\`${path}\` (`), String(error["message"]));
        assert.ok(String(error["message"]).endsWith(instead));
      }
    }
    const { body } = await server.ask("GET", "/v1/imagesque");
    assert.match(JSON.stringify(body), /nothing at `\/v1\/imagesque`. `GET \/openapi.json` lists/);
    const short = await server.ask("POST", "/chat/completions", {});
    assert.equal(short.status, 404);
    assert.match(
      JSON.stringify(short.body),
      /base URL of a client ends in `\/v1`: `\/v1\/chat\/completions`/,
    );
    const twice = await server.ask("POST", "/v1/v1/messages", {});
    assert.match(JSON.stringify(twice.body), /without `\/v1`: it adds that itself/);
  });

  it("give every failure an id to report it by", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Hello.")),
    );
    for (const path of ["/nowhere", "/v1/responses/resp_none"]) {
      const answer = await fetch(`${server.url}${path}`);
      assert.match(answer.headers.get("x-request-id") ?? "", /^req_/);
      await answer.text();
    }
  });
});
