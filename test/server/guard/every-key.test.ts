/** The use of every key is counted, and work in progress counts among its requests at once. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OnUse } from "../../../src/server/guard/budgets.ts";
import type { Amounts } from "../../../src/store/spending.ts";
import { reply, respond } from "../../../src/testing/index.ts";
import { ANYBODY } from "../server-fixture.ts";
import { createGuardBench, startGuarded } from "./guard-fixture.ts";

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("a key without limits", () => {
  it("is counted: requests and tokens, stored or not, plain, streamed or as a chat", async (t) => {
    const bench = createGuardBench();
    const usage = { input: 100, output: 10 };
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Yes.", { usage })),
    );
    const { token, key } = await bench.makeKey();
    const chat = { model: "scripted", messages: [{ role: "user", content: "Hi" }] };
    const asked = [
      { body: { input: "Hi" } },
      { body: { input: "Hi", store: false } },
      { body: { input: "Hi", store: false, stream: true } },
      { path: "/v1/chat/completions", body: chat },
    ];
    for (const one of asked) assert.equal((await server.send({ token, ...one })).status, 200);
    await bench.guard.budgets.flush();
    const { day, total } = await bench.spending.read(key.id, bench.clock.now());
    assert.deepEqual(day, { requests: 4, tokens: 440, usd: 0, unpriced: 440 });
    assert.deepEqual(total, day);
  });
});

describe("a key with places for some requests at once", () => {
  it("counts background responses that run, and takes others when they have ended", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.silence()),
    );
    const { token } = await bench.makeKey({ limits: { concurrent: 1 } });
    const body = { input: "Hi", background: true };
    const first = await server.send({ token, body });
    const { id } = JSON.parse(first.text) as { id: string };
    while (server.upstream.requests.length < 1) await turn();
    for (const asked of [body, { input: "Hi" }, { input: "Hi", store: false }]) {
      const refused = await server.send({ token, body: asked });
      assert.equal(refused.status, 429, refused.text);
    }
    const path = `/v1/responses/${id}`;
    const looked = await server.send({ token, method: "GET", path });
    assert.equal(looked.status, 200, "a client that waits for it can see its progress");
    const ended = await server.send({ token, path: `${path}/cancel` });
    assert.equal(ended.status, 200, "and end it");
    const second = await server.send({ token, body });
    assert.equal(second.status, 200, second.text);
    while (server.upstream.requests.length < 2) await turn();
  });

  it("lets those wait that were taken before a place was there", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.silence()),
    );
    const { token, key } = await bench.makeKey({ limits: { concurrent: 2 } });
    const others = [await bench.guard.enterPlace(key.id), await bench.guard.enterPlace(key.id)];
    assert.equal(await bench.guard.enterPlace(key.id), undefined);
    others[0]?.();
    const made = await server.send({ token, body: { input: "Hi", background: true } });
    assert.equal(made.status, 200, made.text);
    const { id } = JSON.parse(made.text) as { id: string };
    while (server.upstream.requests.length < 1) await turn();
    assert.equal(await bench.guard.enterPlace(key.id), undefined);
    await server.responses.api.cancel(id, { ...ANYBODY, tenant: "default" });
    const free = await bench.guard.enterPlace(key.id);
    assert.ok(free);
  });
});

describe("what keys use", () => {
  it("is reported as it is booked, by key and tenant", async (t) => {
    const told = new Map<string, Pick<Amounts, "requests" | "tokens">>();
    const tenants = new Set<string>();
    const onUse: OnUse = ({ keyId, tenant }, { requests = 0, tokens = 0 }) => {
      const before = told.get(keyId) ?? { requests: 0, tokens: 0 };
      told.set(keyId, { requests: before.requests + requests, tokens: before.tokens + tokens });
      tenants.add(tenant);
    };
    const bench = createGuardBench({}, { onUse });
    const usage = { input: 100, output: 10 };
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Yes.", { usage })),
    );
    const tenant = "team";
    const free = await bench.makeKey({ tenant });
    const limited = await bench.makeKey({ tenant, limits: { tokens_per_day: 10_000 } });
    for (const { token } of [free, limited, limited]) {
      await server.send({ token, body: { input: "Hi" } });
    }
    assert.deepEqual(told.get(free.key.id), { requests: 1, tokens: 110 });
    assert.deepEqual(told.get(limited.key.id), { requests: 2, tokens: 220 });
    assert.deepEqual([...tenants], [tenant]);
  });
});
