/** A limit in dollars on a model whose price comes only with its answers. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAccount } from "../../src/agent/account.ts";
import { toBrokenAmount } from "../../src/agent/broken-answer.ts";
import { holdCall } from "../../src/agent/call-cost.ts";
import { checkPriced } from "../../src/agent/call-estimate.ts";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import { type ModelAnswer, toSettled } from "../../src/agent/turn.ts";
import { NO_USAGE, toUsage } from "../../src/protocol/usage.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";

const REQUEST: ModelRequest = {
  model: "m",
  instructions: undefined,
  items: [],
  tools: [],
  format: { type: "text" },
  tool_choice: "auto",
  parallel_tool_calls: undefined,
  temperature: undefined,
  top_p: undefined,
  max_output_tokens: undefined,
  reasoning: { effort: undefined, summary: undefined },
  previous: undefined,
};
const UNKNOWN = { costOf: () => undefined };
const TOLD = { ...UNKNOWN, tellsCost: true };

const ANSWER: ModelAnswer = {
  items: [],
  reason: "stop",
  usage: NO_USAGE,
  cost_usd: 0.2,
  continuation: null,
};

describe("a call whose price comes with its answer", () => {
  it("is allowed under a limit in dollars, unlike a call of unknown price", async () => {
    assert.doesNotThrow(() => checkPriced({ usd: 1 }, TOLD));
    assert.throws(() => checkPriced({ usd: 1 }, UNKNOWN), { code: "invalid_request" });
  });

  it("reserves all that is left, so that no other runs beside it, and returns what it did not cost", async () => {
    const account = createAccount({ ...NO_LIMITS, usd: 1 });
    const { request, hold } = await holdCall(account, REQUEST, TOLD);
    assert.deepEqual([request.max_output_tokens, hold.most.usd], [undefined, 1]);
    await assert.rejects(holdCall(account, REQUEST, TOLD), { code: "budget_exceeded" });
    hold.settle(toSettled(ANSWER, hold, TOLD));
    assert.equal(account.left.usd, 0.8);
  });

  it("may cost more than is left, and is then the last", async () => {
    const account = createAccount({ ...NO_LIMITS, usd: 0.1 });
    const { hold } = await holdCall(account, REQUEST, TOLD);
    hold.settle(toSettled(ANSWER, hold, TOLD));
    assert.equal(account.spent.usd, 0.2);
    await assert.rejects(holdCall(account, REQUEST, TOLD), { code: "budget_exceeded" });
  });

  it("obeys a limit on tokens like every other call", async () => {
    const account = createAccount({ ...NO_LIMITS, usd: 1, tokens: 500 });
    const { request, hold } = await holdCall(account, REQUEST, TOLD);
    assert.ok(Number(request.max_output_tokens) <= 500 && hold.most.tokens <= 500);
  });

  it("takes all that it reserved if its answer has no cost after all", async () => {
    const account = createAccount({ ...NO_LIMITS, usd: 1 });
    const { hold } = await holdCall(account, REQUEST, TOLD);
    hold.settle(toSettled({ ...ANSWER, cost_usd: null }, hold, TOLD));
    assert.equal(account.left.usd, 0);
    const free = createAccount(NO_LIMITS);
    const unlimited = (await holdCall(free, REQUEST, TOLD)).hold;
    assert.equal(toSettled({ ...ANSWER, cost_usd: null }, unlimited, TOLD).usd, 0);
  });

  it("takes the price of an expensive model if it is interrupted, and never more than it reserved", async () => {
    const usage = toUsage({ input: 900, output: 100 });
    assert.equal(toBrokenAmount(usage, TOLD, { mostUsd: 1 }).usd?.toFixed(4), "0.0300");
    assert.equal(toBrokenAmount(usage, TOLD, { mostUsd: 0.001 }).usd, 0.001);
    assert.equal(toBrokenAmount(usage, TOLD, { mostUsd: 0 }).usd, 0);
    assert.equal(toBrokenAmount(usage, { costOf: () => 0.5 }, { mostUsd: 0.001 }).usd, 0.5);
  });
});
