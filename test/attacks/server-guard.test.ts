/** Requests that must not pass the server's guard. Each is refused, and the server stays healthy. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { revokeKey } from "../../src/server/guard/keys.ts";
import { createRoutes } from "../../src/server/routes.ts";
import { reply, respond } from "../../src/testing/index.ts";
import {
  createGuardBench,
  errorOf,
  type GuardBench,
  type GuardedServer,
  type Sent,
  startGuarded,
} from "../server/guard/guard-fixture.ts";
import { newDatabasePath } from "../store/database-path.ts";

const hello = respond(() => reply.text("Hello."));

/** That API has no codes. */
function messagesErrorOf({ text }: { readonly text: string }): { type: string; code: string } {
  const { type, error } = JSON.parse(text) as { type: string; error: { type: string } };
  assert.equal(type, "error", text);
  return { type: error.type, code: "invalid_api_key" };
}

async function isWell(server: GuardedServer, token: string): Promise<void> {
  const { status, text } = await server.send({ token, body: { input: "Hi" } });
  assert.equal(status, 200, text);
}

describe("attacks on keys", () => {
  it("get nowhere on any route", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey();
    const shown = await makeBadCredentials(bench, token);
    const routes = createRoutes(server.responses).filter(({ scope }) => scope !== null);
    assert.ok(routes.length > 0);
    for (const { method, path, speaks } of routes) {
      for (const [name, headers] of Object.entries(shown)) {
        const answer = await server.send({ method, path: path.replace(/:\w+/g, "x"), headers });
        assert.equal(answer.status, 401, `${name} on ${method} ${path}`);
        const { type, code } = speaks === "messages" ? messagesErrorOf(answer) : errorOf(answer);
        assert.deepEqual([type, code], ["authentication_error", "invalid_api_key"]);
        assert.ok(!answer.text.includes(token), answer.text);
      }
    }
    assert.equal(server.upstream.requests.length, 0);
    await isWell(server, token);
  });

  it("do not read a body before the key", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey();
    // Announced and never sent: a server that waited for it would not answer.
    const headers = { "content-length": "1000000", expect: "100-continue" };
    assert.equal((await server.send({ headers })).status, 401);
    await isWell(server, token);
  });

  it("do not widen what a key may do", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey({ scopes: ["models"] });
    const refused = await server.send({ token, body: { input: "Hi" } });
    assert.equal(refused.status, 403);
    assert.equal(errorOf(refused).type, "permission_error");
    const narrow = await bench.makeKey({ models: ["small-*"] });
    const large = await server.send({ token: narrow.token, body: { input: "", model: "large" } });
    assert.equal(large.status, 403);
    assert.equal(errorOf(large).param, "model");
    assert.equal(server.upstream.requests.length, 0);
  });

  it("do not exceed a key's rate", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey({ limits: { requests_per_minute: 3 } });
    const asked = Array.from({ length: 20 }, () => server.send({ token, body: { input: "Hi" } }));
    const answers = await Promise.all(asked);
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(answers.filter(({ status }) => status === 200).length, 3);
    assert.equal(refused.length, 17);
    for (const answer of refused) {
      assert.equal(errorOf(answer).code, "rate_limit_exceeded");
      assert.equal(answer.headers["retry-after"], "30");
      assert.equal(answer.headers["x-ratelimit-limit-requests"], "3");
      assert.equal(answer.headers["x-ratelimit-remaining-requests"], "0");
      assert.equal(answer.headers["x-ratelimit-reset-requests"], "30s");
    }
  });

  it("do not exceed a key's budget", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, hello);
    const { token, key } = await bench.makeKey({ limits: { usd_per_day: 1 } });
    const times = { takenMs: bench.clock.now(), nowMs: bench.clock.now() };
    await bench.spending.settle(key.id, { usd: 1 }, times);
    const answer = await server.send({ token, body: { input: "Hi" } });
    assert.equal(answer.status, 429);
    assert.equal(errorOf(answer).code, "insufficient_quota");
    assert.equal(answer.headers["x-should-retry"], "false");
    assert.equal(server.upstream.requests.length, 0);
  });
});

describe("attacks through a browser", () => {
  const pages: Readonly<Record<string, Sent>> = {
    "a name that was pointed here": { headers: { host: "evil.example" } },
    "a name and the right port": { headers: { host: "evil.example:8484" } },
    "a page of another origin": { headers: { origin: "https://evil.example" } },
    "a page of no origin": { headers: { origin: "null" } },
    "a page of another port": { headers: { origin: "http://127.0.0.1:3000" } },
    "a picture of a page": {
      method: "GET",
      path: "/v1/responses/x",
      headers: { "sec-fetch-site": "cross-site" },
    },
    "a form of a page": { headers: { "sec-fetch-site": "same-site" } },
    "the question before": {
      method: "OPTIONS",
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    },
  };
  for (const auth of [true, false]) {
    it(`are refused ${auth ? "with the right key" : "where no key is asked for"}`, async (t) => {
      const bench = createGuardBench({ auth });
      const server = await startGuarded(t, bench, hello);
      const { token } = await bench.makeKey();
      for (const [name, asked] of Object.entries(pages)) {
        const answer = await server.send({ token, ...asked });
        assert.equal(answer.status, 403, name);
        assert.equal(errorOf(answer).type, "permission_error");
        assert.equal(answer.headers["access-control-allow-origin"], undefined);
      }
      assert.equal(server.upstream.requests.length, 0);
      await isWell(server, token);
    });
  }

  it("are harmless if pages of an origin are allowed", async (t) => {
    const bench = createGuardBench({ origins: ["https://app.example"] });
    const server = await startGuarded(t, bench, hello);
    const { token } = await bench.makeKey();
    const origin = "https://app.example";
    const first = await server.send({
      method: "OPTIONS",
      headers: { origin, "access-control-request-headers": "authorization" },
    });
    assert.equal(first.status, 204);
    assert.equal(first.headers["access-control-allow-headers"], "authorization");
    for (const asked of [{ token, body: { input: "Hi" } }, { body: {} }]) {
      const answer = await server.send({ ...asked, headers: { origin } });
      assert.equal(answer.status, "token" in asked ? 200 : 401);
      assert.equal(answer.headers["access-control-allow-origin"], origin);
      assert.equal(answer.headers["vary"], "origin");
    }
    const evil = { token, headers: { origin: "https://evil.example" } };
    assert.equal((await server.send(evil)).status, 403);
  });
});

describe("attacks with ids", () => {
  const ids: readonly string[] = [
    ...["..", "../", "%2e%2e", "%2e%2e%2f", "..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "."],
    ...["%00", "resp_%00", "%0d%0ax-evil:%201", "%ff%fe", "%", "%zz", "%u0000", "%c0%ae", "*"],
    ...["%F0%9F%A6%84", "%ED%A0%80", "%E2%80%AE", "resp_1'--", "resp_1%22%3B", "__proto__"],
    ...["constructor", "%25s%25n", "$%7Bx%7D", "run_1", "a".repeat(8000), "//", "%20"],
  ];
  for (const storePath of [undefined, newDatabasePath()]) {
    it(`find nothing in ${storePath ? "a file" : "memory"}`, async (t) => {
      const bench = createGuardBench();
      const server = await startGuarded(t, bench, hello, { storePath });
      const { token } = await bench.makeKey();
      for (const id of ids) {
        for (const [method, rest] of TRIES) {
          const path = `/v1/responses/${id}${rest}`;
          const answer = await server.send({ method, path, token });
          assert.ok([400, 404, 405].includes(answer.status), `${path}: ${answer.status}`);
          errorOf(answer);
          assert.ok(answer.text.length < 9000);
          assert.equal(answer.headers["x-evil"], undefined);
        }
      }
      await isWell(server, token);
    });
  }
});

const TRIES = [
  ["GET", ""],
  ["GET", "?stream=true"],
  ["DELETE", ""],
  ["POST", "/cancel"],
  ["POST", "/steer"],
] as const;

type Shown = Readonly<Record<string, string | string[]>>;

async function makeBadCredentials(
  bench: GuardBench,
  token: string,
): Promise<Readonly<Record<string, Shown>>> {
  const bearer = (...tokens: string[]): string[] => tokens.map((text) => `Bearer ${text}`);
  const expired = await bench.makeKey({ expiresAtMs: 0 });
  const revoked = await bench.makeKey();
  await revokeKey(bench, revoked.key.id);
  const other = await bench.makeKey();
  return {
    "no key": {},
    "an empty key": { authorization: "Bearer " },
    "an unknown key": { authorization: `Bearer osk_${"0".repeat(12)}_${"0".repeat(64)}` },
    "another's secret": { authorization: `Bearer ${token.slice(0, 17)}${other.token.slice(17)}` },
    "an expired key": { authorization: bearer(expired.token) },
    "a revoked key": { authorization: bearer(revoked.token) },
    "two keys": { authorization: bearer(token, other.token) },
    "a right and a wrong key": { authorization: bearer(token, "x") },
    "two kinds of keys": { authorization: bearer(token), "x-api-key": other.token },
    "a key with a list": { authorization: `Bearer ${token},${token}` },
    "another scheme": { authorization: `Basic ${Buffer.from(`:${token}`).toString("base64")}` },
    "a cookie": { cookie: `token=${token}` },
    "a long key": { authorization: `Bearer ${"a".repeat(10_000)}` },
    "a key beyond ASCII": { authorization: "Bearer \u00ff\u00fe" },
    "names of prototypes": { constructor: token, tostring: token },
  };
}
