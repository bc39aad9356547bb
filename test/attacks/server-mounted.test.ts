/** Attacks on a server that a program has mounted: by function calls, not over a socket. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { reply } from "../../src/testing/index.ts";
import { openTestApp } from "../server/embedded/test-app.ts";

const HELLO = JSON.stringify({ model: "any", input: "Hello" });

function toRequest(headers: Record<string, string>, path = "/v1/responses", body = HELLO): Request {
  return new Request(`http://localhost${path}`, { method: "POST", headers, body });
}

describe("a mounted server", () => {
  it("answers no request without a key, with a wrong one, or with one in the address", async (t) => {
    const { app, key, asked } = await openTestApp(t, [reply.text("never")]);
    const tries = [
      toRequest({}),
      toRequest({ authorization: "Bearer osk_wrong_wrong" }),
      toRequest({}, `/v1/responses?key=${key}&api_key=${key}`),
    ];
    for (const request of tries) assert.equal((await app.fetch(request)).status, 401);
    assert.equal(asked.length, 0);
  });

  it("refuses foreign hosts and pages of foreign origins, with a key", async (t) => {
    const { app, key, asked } = await openTestApp(t, [reply.text("never")]);
    const authorization = `Bearer ${key}`;
    const tries = [
      new Request("http://evil.example/v1/responses", {
        method: "POST",
        headers: { authorization },
        body: HELLO,
      }),
      toRequest({ authorization, host: "evil.example" }),
      toRequest({ authorization, origin: "https://evil.example" }),
      toRequest({ authorization, "sec-fetch-site": "cross-site" }),
    ];
    for (const request of tries) assert.equal((await app.fetch(request)).status, 403);
    assert.equal(asked.length, 0);
  });

  it("shows the objects of one tenant to no other, whatever the request says about its tenant", async (t) => {
    const { app } = await openTestApp(t, [reply.text("For Ann.")]);
    const ann = await app.createKey({ name: "ann", tenant: "ann" });
    const bob = await app.createKey({ name: "bob", tenant: "bob" });
    const made = await app.fetch(toRequest({ authorization: `Bearer ${ann}` }));
    const { id } = (await made.json()) as { id: string };
    const asBob = { authorization: `Bearer ${bob}`, "x-tenant": "ann", tenant: "ann" };
    const path = `http://localhost/v1/responses/${id}`;
    for (const method of ["GET", "DELETE"]) {
      const answer = await app.fetch(new Request(path, { method, headers: asBob }));
      assert.equal(answer.status, 404);
    }
    const next = JSON.stringify({ model: "any", input: "And?", previous_response_id: id });
    const refused = await app.fetch(toRequest(asBob, "/v1/responses", next));
    assert.match(await refused.text(), /previous_response_id/);
  });

  it("refuses a flood: bodies beyond the limit, and more at once than a key may send", async (t) => {
    const { app, key } = await openTestApp(t, [reply.silence("One")], {
      settings: { server: { max_body_bytes: 2000, drain_seconds: 1 } },
    });
    const large = JSON.stringify({ model: "any", input: "x".repeat(5000) });
    const authorization = `Bearer ${key}`;
    const tooLarge = await app.fetch(toRequest({ authorization }, "/v1/responses", large));
    assert.equal(tooLarge.status, 413);
    const one = await app.createKey({ name: "one", limits: { concurrent: 1 } });
    const asOne = { authorization: `Bearer ${one}` };
    const streamed = JSON.stringify({ model: "any", input: "Hi", stream: true, store: false });
    const first = await app.fetch(toRequest(asOne, "/v1/responses", streamed));
    assert.equal(first.status, 200);
    const second = await app.fetch(toRequest(asOne, "/v1/responses", streamed));
    assert.equal(second.status, 429);
    await first.body?.cancel();
  });

  it("refuses a body that a framework has parsed and that no text can hold, without a key too", async (t) => {
    const { app } = await openTestApp(t, [reply.text("never")]);
    const deep = `{"input":${"[".repeat(40_000)}${"]".repeat(40_000)}}`;
    const cycle: Record<string, unknown> = {};
    cycle["input"] = cycle;
    const rows: [unknown, RegExp][] = [
      [JSON.parse(deep), /nested deeper than/],
      [cycle, /not JSON/],
      [{ input: 1n }, /not JSON/],
      [() => {}, /not JSON/],
    ];
    let body: unknown;
    // Programs mount it like this: a rejection would end the process.
    const rejected: unknown[] = [];
    const server = createServer(async (request, response) => {
      request.resume();
      await once(request, "end");
      const parsed = Object.assign(request, { body });
      await app.handle(parsed, response).catch((thrown: unknown) => {
        rejected.push(thrown);
        response.writeHead(500).end();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const key = await app.createKey({ name: "own" });
    for (const [given, problem] of rows) {
      body = given;
      const url = `http://127.0.0.1:${port}/v1/responses`;
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(url, { method: "POST", headers, body: "{}" });
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), problem);
      assert.equal((await fetch(url, { method: "POST", body: "{}" })).status, 401);
    }
    assert.deepEqual(rejected, []);
  });

  it("never takes a caller without a tenant for another one", async (t) => {
    const defects: unknown[] = [];
    const { app, asked } = await openTestApp(t, [reply.text("never")], {
      caller: () => ({ tenant: "" }),
      onDefect: (thrown) => defects.push(thrown),
    });
    assert.equal((await app.fetch(toRequest({}))).status, 500);
    assert.deepEqual([asked.length, defects.length], [0, 1]);
  });
});
