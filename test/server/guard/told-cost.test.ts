/** The cost that a router reports for an answer, booked on the key of the request. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { KeyWish } from "../../../src/server/guard/keys.ts";
import { reply, script } from "../../../src/testing/index.ts";
import { startOpenUpstream } from "../../open-upstream.ts";
import { createGuardBench, startGuarded } from "./guard-fixture.ts";

async function start(t: TestContext, wish: Partial<KeyWish>, cost = 0.4) {
  const vendor = await startOpenUpstream(() => ({ usage: { cost } }));
  t.after(() => vendor.close());
  const bench = createGuardBench();
  const usual = {
    model: "openrouter/a/b",
    provider: null,
    url: vendor.url,
    api_key_name: null,
  };
  const settings = { models: { named: [], usual } };
  const env = { OPENROUTER_API_KEY: "k" };
  const server = await startGuarded(t, bench, script(reply.text("")), { settings, env });
  const { token, key } = await bench.makeKey(wish);
  const used = async (): Promise<number> => {
    await bench.guard.budgets.flush();
    return (await bench.spending.read(key.id, bench.clock.now())).total.usd;
  };
  return { vendor, used, send: (body: JsonObject) => server.send({ token, body }) };
}

describe("the cost that a vendor tells", () => {
  it("is booked on a key without limits, on every way", async (t) => {
    const { send, used } = await start(t, {});
    let spent = 0;
    for (const way of [{ store: false }, { store: false, stream: true }, { store: true }]) {
      const made = await send({ input: "Hi", ...way });
      assert.equal(made.status, 200, made.text);
      spent += 0.4;
      assert.equal((await used()).toFixed(4), spent.toFixed(4), JSON.stringify(way));
    }
  });

  it("keeps a key to its dollars, though the price is not known before", async (t) => {
    const { send, used, vendor } = await start(t, { limits: { usd_total: 1 } });
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++) {
      statuses.push((await send({ input: "Hi", store: count % 2 === 0 })).status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
    assert.equal((await used()).toFixed(2), "1.20");
    assert.equal(vendor.sent.length, 3);
  });

  for (const cost of [1e300, 100, -5]) {
    it(`is not believed where it cannot be true: ${cost}`, async (t) => {
      const { send, used } = await start(t, {}, cost);
      for (const way of [{ store: false }, { store: false, stream: true }, { store: true }]) {
        assert.equal((await send({ input: "Hi", ...way })).status, 200);
      }
      assert.equal(await used(), 0);
    });
  }

  it("that cannot be true uses up at most what was reserved", async (t) => {
    const { send, used } = await start(t, { limits: { usd_total: 1 } }, 1e300);
    assert.equal((await send({ input: "Hi" })).status, 200);
    assert.ok((await used()) <= 1, `${await used()}`);
  });

  it("is the cost of a response that has a limit of its own", async (t) => {
    const { send, used } = await start(t, { responseLimits: { usd: 0.5 } });
    assert.equal((await send({ input: "Hi" })).status, 200);
    assert.equal(await used(), 0.4);
  });
});
