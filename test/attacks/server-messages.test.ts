/** Requests to the Messages API that must get nobody further than the other addresses do. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import {
  createGuardBench,
  type GuardedServer,
  type Received,
  type Sent,
  startGuarded,
} from "../server/guard/guard-bench.ts";

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
  it("get in with a good key by either header, and with no bad one", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey();
    const rows: [Record<string, string>, number][] = [
      [{ "x-api-key": token }, 200],
      [{ authorization: `Bearer ${token}` }, 200],
      // As Claude Code sends them where both of its variables are set.
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

  it("do not widen what a key may do", async (t) => {
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

  it("do not pass a key's rate", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey({ limits: { requests_per_minute: 3 } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(server, { token })));
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(refused.length, 17);
    for (const answer of refused) assert.equal(typeOf(answer), "rate_limit_error");
  });

  it("from a foreign page or for a foreign host get nowhere", async (t) => {
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
    const [one, two] = [
      await bench.makeKey({ tenant: "one" }),
      await bench.makeKey({ tenant: "two" }),
    ];
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
});
