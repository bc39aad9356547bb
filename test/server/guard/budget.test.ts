import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../../src/testing/index.ts";
import { createGuardBench, errorOf, startGuarded } from "./guard-fixture.ts";

describe("a key's budget", () => {
  for (const background of [false, true]) {
    it(`is charged for a response${background ? " in the background" : ""}`, async (t) => {
      const bench = createGuardBench();
      const engine = respond(() => reply.text("Hello."));
      const server = await startGuarded(t, bench, engine);
      const { token, key } = await bench.makeKey({ limits: { tokens_per_day: 100_000 } });
      const made = await server.send({ token, body: { input: "Hi", background } });
      assert.equal(made.status, 200, made.text);
      const { id } = JSON.parse(made.text) as { id: string };
      const path = `/v1/responses/${id}`;
      // A stream ends with the response, and the charge comes before the end.
      await server.send({ method: "GET", path: `${path}?stream=true`, token });
      const { text } = await server.send({ method: "GET", path, token });
      const { usage } = JSON.parse(text) as { usage: { total_tokens: number } };
      const { day } = await bench.spending.read(key.id, bench.clock.now());
      assert.ok(usage.total_tokens > 0);
      assert.equal(day.tokens, usage.total_tokens);
    });
  }

  it("bounds what one response may write, by what is left", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Hello.")),
    );
    const { token, key } = await bench.makeKey({ limits: { tokens_per_day: 1000 } });
    const times = { takenMs: bench.clock.now(), nowMs: bench.clock.now() };
    await bench.spending.settle(key.id, { tokens: 900 }, times);
    const made = await server.send({ token, body: { input: "Hi" } });
    assert.equal(made.status, 200, made.text);
    const sent = server.upstream.requests.at(-1)?.body as Record<string, number>;
    const most = sent["max_completion_tokens"] ?? sent["max_tokens"] ?? Number.NaN;
    assert.ok(most > 0 && most <= 100, JSON.stringify(sent));
    await bench.spending.settle(key.id, { tokens: 100 }, times);
    const refused = await server.send({ token, body: { input: "Hi" } });
    assert.equal(refused.status, 429);
    assert.equal(errorOf(refused).code, "rate_limit_exceeded");
  });

  it("in dollars is not spent on a model with an unknown price", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Hello.")),
    );
    const { token } = await bench.makeKey({ limits: { usd_per_day: 5 } });
    const chat = { model: "scripted", messages: [{ role: "user", content: "Hi" }] };
    const asked = [
      { body: { input: "Hi" } },
      { body: { input: "Hi", store: false, stream: true } },
      { body: { input: "Hi", background: true } },
      { path: "/v1/chat/completions", body: chat },
    ];
    for (const one of asked) {
      const answer = await server.send({ token, ...one });
      assert.equal(answer.status, 400, answer.text);
      assert.equal(errorOf(answer).param, "model");
      assert.match(errorOf(answer).message, /price is not known.*Limit tokens instead/);
    }
    assert.equal(server.upstream.requests.length, 0);
  });

  it("in dollars of one response is refused in the same way", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Hello.")),
    );
    const { token } = await bench.makeKey({ responseLimits: { usd: 1 } });
    const answer = await server.send({ token, body: { input: "Hi" } });
    assert.equal(answer.status, 400, answer.text);
    assert.match(errorOf(answer).message, /price is not known/);
  });

  it("says when there is more, once no other response holds a part of it", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Hello.")),
    );
    const { token, key } = await bench.makeKey({ limits: { tokens_per_day: 1000 } });
    const times = { takenMs: bench.clock.now(), nowMs: bench.clock.now() };
    await bench.spending.settle(key.id, { tokens: 990 }, times);
    const refused = await server.send({ token, body: { input: "Hi" } });
    assert.equal(refused.status, 429, refused.text);
    const { code, message } = errorOf(refused);
    assert.equal(code, "insufficient_quota");
    assert.match(message, /10 tokens of 1,000 tokens left today.*There is more in 11h59m30s/);
    assert.equal(refused.headers["retry-after"], String(12 * 3600 - 30));
    assert.equal(refused.headers["x-should-retry"], "false");
  });

  it("gives its last tokens to one answer, whole", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Hello.")),
    );
    const { token, key } = await bench.makeKey({ limits: { tokens_per_day: 1000 } });
    const times = { takenMs: bench.clock.now(), nowMs: bench.clock.now() };
    await bench.spending.settle(key.id, { tokens: 900 }, times);
    await server.send({ token, body: { input: "Hi" } });
    const sent = server.upstream.requests.at(-1)?.body as Record<string, number>;
    const most = sent["max_completion_tokens"] ?? sent["max_tokens"] ?? Number.NaN;
    assert.ok(most > 60, JSON.stringify(sent));
  });
});
