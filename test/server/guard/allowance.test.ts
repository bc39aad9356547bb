import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import type { KeyLimits } from "../../../src/server/guard/key.ts";
import type { KeyWish } from "../../../src/server/guard/keys.ts";
import type { Admitted } from "../../../src/server/guard.ts";
import { createGuardBench, type GuardBench } from "./guard-fixture.ts";

interface Asking extends GuardBench {
  /** The headers of the last answer. */
  readonly told: Map<string, string>;
  ask(route?: string): Promise<Admitted>;
  /** A response of the key has ended. */
  spend(tokens: number, usd: number): Promise<void>;
}

async function openKey(limits: KeyLimits, wish: Partial<KeyWish> = {}): Promise<Asking> {
  const bench = createGuardBench();
  const { token, key } = await bench.makeKey({ limits, ...wish });
  const told = new Map<string, string>();
  const answer = { setHeader: (name: string, value: string) => told.set(name, value) };
  const ask = (route = "POST /v1/responses"): Promise<Admitted> => {
    told.clear();
    return bench.admit({ token, about: { route, answer } });
  };
  const spend = (tokens: number, usd: number): Promise<void> =>
    bench.guard.budgets.charge(key.id, { tokens, usd });
  return { ...bench, told, ask, spend };
}

describe("what a key may use", () => {
  it("is sent with each answer, in the headers that clients of the API know", async () => {
    const limits = { requests_per_minute: 2, tokens_per_day: 1000 };
    const { ask, told, clock, spend } = await openKey(limits);
    await ask();
    assert.deepEqual(Object.fromEntries(told), {
      "x-ratelimit-limit-requests": "2",
      "x-ratelimit-remaining-requests": "1",
      "x-ratelimit-reset-requests": "30s",
      "x-ratelimit-limit-tokens": "1000",
      "x-ratelimit-remaining-tokens": "1000",
      "x-ratelimit-reset-tokens": "11h59m30s",
    });
    await spend(300, 0);
    await ask();
    assert.equal(told.get("x-ratelimit-remaining-tokens"), "700");
    await assert.rejects(ask(), {
      code: "rate_limited",
      retryAfterMs: 30_000,
      message: "This key may use 2 requests in a minute, and has used 2. There is more in 30s.",
    });
    assert.equal(told.get("x-ratelimit-remaining-requests"), "0");
    await clock.advance(30_000);
    await ask();
  });

  it("is neither sent in headers nor counted for a key without limits", async () => {
    const { ask, told, spending, spend } = await openKey({});
    const { caller } = await ask();
    await spend(5, 1);
    assert.equal(told.size, 0);
    assert.equal((await spending.read(caller.keyId ?? "", 0)).total.tokens, 0);
  });

  it("is booked for runs whose request this process never saw", async () => {
    const { guard, spending, clock } = await openKey({});
    await guard.budgets.charge("another's", { tokens: 5, usd: 1 });
    const { total } = await spending.read("another's", clock.now());
    assert.deepEqual(total, { requests: 0, tokens: 5, usd: 1, unpriced: 0 });
  });

  it("limits each response to what remains", async () => {
    const limits = { tokens_per_day: 1000, usd_per_day: 2, usd_total: 3 };
    const { ask, clock, spend } = await openKey(limits, {
      responseLimits: { tokens: 600, turns: 5 },
    });
    const first = await ask();
    assert.deepEqual(first.caller.limits, { ...NO_LIMITS, turns: 5, tokens: 600, usd: 2 });
    await spend(700, 1.5);
    const second = await ask();
    assert.deepEqual(second.caller.limits, { ...NO_LIMITS, turns: 5, tokens: 300, usd: 0.5 });
    await clock.advance(86_400_000);
    assert.deepEqual((await ask()).caller.limits, {
      ...NO_LIMITS,
      turns: 5,
      tokens: 600,
      usd: 1.5,
    });
  });

  it("ends with the money, except for reading, cancelling and deleting", async () => {
    const { ask, spend } = await openKey({ usd_total: 1 });
    await ask();
    await spend(10, 1.25);
    await assert.rejects(ask(), {
      code: "budget_exceeded",
      retryAfterMs: undefined,
      message: "This key may use $1 in all, and has used 1.25. This budget does not come back.",
    });
    await ask("GET /v1/responses/:id");
    await ask("POST /v1/responses/:id/cancel");
    await ask("DELETE /v1/responses/:id");
  });

  it("counts every request, whatever it asks", async () => {
    const { ask } = await openKey({ requests_per_day: 2 });
    await ask("GET /v1/responses/:id");
    await ask();
    await assert.rejects(ask("GET /v1/responses/:id"), { code: "rate_limited" });
  });

  it("is so many requests at once, until they are answered", async () => {
    const { ask } = await openKey({ concurrent: 2, requests_per_minute: 3 });
    const done = { route: "", status: 200, target: undefined };
    const first = await ask();
    const second = await ask();
    await assert.rejects(ask(), { code: "rate_limited", retryAfterMs: 1000 });
    first.done(done);
    first.done(done);
    await ask();
    await assert.rejects(ask(), /2 requests at once/);
    second.done(done);
    // A request that the rate limit refuses gives its place back.
    await assert.rejects(ask(), /3 requests in a minute/);
    await assert.rejects(ask(), /3 requests in a minute/);
  });

  it("counts what is said to a response, or ends it, as none of those at once", async () => {
    const { ask } = await openKey({ concurrent: 1 });
    await ask();
    for (const action of ["steer", "cancel"]) await ask(`POST /v1/responses/:id/${action}`);
    await assert.rejects(ask(), { code: "rate_limited" });
  });

  it("is nothing less because a request was refused", async () => {
    const { ask, clock } = await openKey({ requests_per_minute: 1, requests_per_day: 2 });
    await ask();
    for (let count = 0; count < 5; count++) await assert.rejects(ask(), /in a minute/);
    await clock.advance(60_000);
    await ask();
    await clock.advance(60_000);
    await assert.rejects(ask(), /in a day/);
  });
});
