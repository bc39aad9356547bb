/** Requests to the Messages API that must get no further than those to the other addresses. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { untilTrue } from "../patience.ts";
import {
  createGuardBench,
  type GuardedServer,
  type Received,
  type Sent,
  startGuarded,
} from "../server/guard/guard-fixture.ts";

const hello = respond(() => reply.text("Hello."));
const VERSION = { "anthropic-version": "2023-06-01" };
const BODY = { model: "m", max_tokens: 10, messages: [{ role: "user", content: "Hi" }] };

function send(server: GuardedServer, { headers, ...sent }: Sent): Promise<Received> {
  return server.send({
    path: "/v1/messages",
    body: BODY,
    ...sent,
    headers: { ...VERSION, ...headers },
  });
}

function typeOf({ text }: Received): string {
  const { type, error } = JSON.parse(text) as { type: string; error: { type: string } };
  assert.equal(type, "error");
  return error.type;
}

describe("attacks on the Messages API", () => {
  it("are accepted with a valid key in either header, and refused with an invalid one", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey();
    const rows: [Record<string, string>, number][] = [
      [{ "x-api-key": token }, 200],
      [{ authorization: `Bearer ${token}` }, 200],
      // Sent by Claude Code if both of its variables are set.
      [{ authorization: `Bearer ${token}`, "x-api-key": "sk-ant-other" }, 200],
      [{ authorization: "Bearer osk_wrong", "x-api-key": token }, 401],
      [{ "x-api-key": "osk_wrong" }, 401],
      [{ "x-api-key": "" }, 401],
      [{}, 401],
    ];
    for (const [headers, status] of rows) {
      const answer = await send(server, { headers });
      assert.equal(answer.status, status, JSON.stringify(headers));
      if (status === 401) assert.equal(typeOf(answer), "authentication_error");
      assert.ok(!answer.text.includes(token));
    }
    assert.equal(server.upstream.requests.length, 3);
  });

  it("do not extend what a key may do", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const models = await bench.makeKey({ scopes: ["models"] });
    assert.equal(typeOf(await send(server, { token: models.token })), "permission_error");
    const narrow = await bench.makeKey({ models: ["small-*"] });
    assert.equal(typeOf(await send(server, { token: narrow.token })), "permission_error");
    const plain = await bench.makeKey({ catalogue: [] });
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    const searching = await send(server, { token: plain.token, body: { ...BODY, tools } });
    assert.equal(typeOf(searching), "permission_error");
    assert.equal(server.upstream.requests.length, 0);
  });

  it("do not exceed a key's rate", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey({ limits: { requests_per_minute: 3 } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(server, { token })));
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(refused.length, 17);
    for (const answer of refused) assert.equal(typeOf(answer), "rate_limit_error");
  });

  it("from a foreign page or for a foreign host are refused", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey();
    for (const headers of [{ origin: "https://evil.example" }, { host: "evil.example" }]) {
      assert.equal(typeOf(await send(server, { token, headers })), "permission_error");
    }
    assert.equal(server.upstream.requests.length, 0);
  });

  it("see nothing of another tenant's sessions", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const one = await bench.makeKey({ tenant: "one" });
    const two = await bench.makeKey({ tenant: "two" });
    const headers = { "x-claude-code-session-id": "same" };
    const made = await send(server, { token: one.token, headers });
    const id = (JSON.parse(made.text) as { id: string }).id.replace("msg_", "resp_");
    const read = (token: string): Promise<Received> =>
      server.send({ method: "GET", path: `/v1/responses/${id}`, token });
    assert.equal((await read(one.token)).status, 200);
    assert.equal((await read(two.token)).status, 404);
    await send(server, { token: two.token, headers });
    assert.doesNotMatch(server.upstream.requests[1]?.text ?? "", /Hello\./);
  });

  it("reach no private address by a picture, a document or an MCP server", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey();
    const hosts = ["127.0.0.1", "localhost", "169.254.169.254", "10.0.0.1", "[::1]", "0x7f000001"];
    for (const host of hosts) {
      const url = `http://${host}/latest/meta-data`;
      const rows: object[] = [
        ...["image", "document"].map((type) => ({
          messages: [{ role: "user", content: [{ type, source: { type: "url", url } }] }],
        })),
        { mcp_servers: [{ type: "url", name: "x", url }] },
      ];
      for (const row of rows) {
        const answer = await send(server, { token, body: { ...BODY, ...row } });
        assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${url}`);
        typeOf(answer);
      }
    }
    assert.equal(server.upstream.requests.length, 0);
  });

  it("do not read another tenant's files", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const one = await bench.makeKey({ tenant: "one" });
    const two = await bench.makeKey({ tenant: "two" });
    const form = new FormData();
    form.set("purpose", "user_data");
    form.set("file", new Blob(["SECRET-OF-ONE"], { type: "text/plain" }), "a.txt");
    const uploaded = await fetch(`${server.url}/v1/files`, {
      method: "POST",
      body: form,
      headers: { authorization: `Bearer ${one.token}` },
    });
    const { id: file_id } = (await uploaded.json()) as { id: string };
    const content = [{ type: "document", source: { type: "file", file_id } }];
    const body = { ...BODY, messages: [{ role: "user", content }] };
    const refused = await send(server, { token: two.token, body });
    assert.equal(refused.status, 400);
    assert.doesNotMatch(refused.text, /SECRET/);
    assert.equal(server.upstream.requests.length, 0);
    assert.equal((await send(server, { token: one.token, body })).status, 200);
  });

  it("flood nothing: with tools, messages, a deep body or a long session's name", async (t) => {
    const bench = createGuardBench();
    const size = { maxItems: 50, maxTools: 10, maxImageBytes: 1000 };
    const server = await startGuarded(t, bench, hello, { settings: { size } });
    const { token } = await bench.makeKey();
    const many = (count: number, one: object): object[] => Array.from({ length: count }, () => one);
    const picture = { type: "base64", media_type: "image/png", data: "A".repeat(4000) };
    const rows: (object | string)[] = [
      { ...BODY, tools: many(11, { name: "t", input_schema: { type: "object" } }) },
      { ...BODY, messages: many(51, { role: "user", content: "Hi" }) },
      { ...BODY, messages: [{ role: "user", content: [{ type: "image", source: picture }] }] },
      `{"messages": ${"[".repeat(100_000)}`,
      "null",
      "[]",
    ];
    for (const body of rows) {
      const answer = await send(server, { token, body });
      assert.ok(
        [400, 413].includes(answer.status),
        `${answer.status} ${answer.text.slice(0, 200)}`,
      );
      typeOf(answer);
    }
    const counted = await send(server, {
      token,
      path: "/v1/messages/count_tokens",
      body: rows[0] as object,
    });
    assert.equal(counted.status, 400);
    assert.equal(server.upstream.requests.length, 0);
    const headers = { "x-claude-code-session-id": "s".repeat(5000) };
    const stored = await send(server, { token, headers });
    assert.equal(stored.status, 200, stored.text);
  });

  it("do not exceed a key's concurrency", async (t) => {
    const bench = createGuardBench();
    const silent = respond(() => reply.silence("One"));
    const server = await startGuarded(t, bench, silent);
    const { token } = await bench.makeKey({ limits: { concurrent: 2 } });
    const leave = new AbortController();
    const asked = Array.from({ length: 10 }, () =>
      fetch(`${server.url}/v1/messages`, {
        method: "POST",
        body: JSON.stringify(BODY),
        signal: leave.signal,
        headers: { ...VERSION, "x-api-key": token },
      }),
    );
    const refused: number[] = [];
    for (const one of asked) one.then(({ status }) => refused.push(status)).catch(() => {});
    await untilTrue(() => refused.length === 8, "the others are refused");
    assert.deepEqual([...new Set(refused)], [429]);
    await untilTrue(() => server.upstream.requests.length === 2, "two are asked for");
    leave.abort();
    await Promise.allSettled(asked);
  });

  it("learn nothing without a key: no counts, no models, no ids", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    for (const path of ["/v1/messages", "/v1/messages/count_tokens", "/v1/messages/batches"]) {
      const answer = await server.send({ path, headers: VERSION, body: BODY });
      assert.ok([401, 404].includes(answer.status), `${path} ${answer.status}`);
      assert.doesNotMatch(answer.text, /scripted|custom/);
    }
    const head = await server.send({ method: "HEAD", path: "/" });
    assert.equal(head.text, "");
  });
});
