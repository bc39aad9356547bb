import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAccount, type Purse } from "../../src/agent/account.ts";
import { holdCall } from "../../src/agent/call-cost.ts";
import { type Amount, NO_LIMITS } from "../../src/agent/limits.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";

/** Gives half of what it has, or the least if that is more. */
function createHalf(all: number): Purse & { readonly asked: number[] } {
  let given = 0;
  const asked: number[] = [];
  return {
    asked,
    get given() {
      return { tokens: given };
    },
    async draw(least: Amount, most: Amount) {
      asked.push(most.tokens);
      const before = given;
      if (least.tokens <= all)
        given = Math.max(given, Math.min(most.tokens, (least.tokens + all) / 2));
      return given > before;
    },
  };
}

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
const CHILD = { callKey: "c", ceiling: {}, enough: { tokens: 700 }, least: { tokens: 700 } };
const NEVER = new AbortController().signal;
const FREE = { costOf: () => 0 };

describe("an account with a purse", () => {
  it("may spend what it was given, and asks for more when that is not enough", async () => {
    const account = createAccount(NO_LIMITS, createHalf(1000));
    assert.equal(account.left.tokens, 0);
    const { request, hold } = await holdCall(account, REQUEST, FREE);
    const most = hold.most.tokens;
    assert.ok(most > 490 && most < 520, String(most));
    assert.ok((request.max_output_tokens ?? 0) < most);
    hold.settle({ tokens: most });
    const next = await holdCall(account, REQUEST, FREE);
    assert.ok(next.hold.most.tokens > 240, String(next.hold.most.tokens));
    next.hold.settle({ tokens: 240 });
    assert.throws(() => account.hold({ tokens: 600 }), { code: "budget_exceeded" });
  });

  it("asks for the most that a call needs, and never for more than its own limit", async () => {
    const purse = createHalf(1000);
    const account = createAccount({ ...NO_LIMITS, tokens: 200 }, purse);
    const short = await holdCall(account, { ...REQUEST, max_output_tokens: 50 }, FREE);
    assert.ok(short.hold.most.tokens < 60);
    short.hold.settle({ tokens: 55 });
    (await holdCall(account, REQUEST, FREE)).hold.settle({ tokens: 145 });
    assert.ok(
      purse.asked.every((most) => most <= 200),
      String(purse.asked),
    );
    await assert.rejects(holdCall(account, REQUEST, FREE), { code: "budget_exceeded" });
  });

  it("takes what a child needs from it, and keeps what the child returns", async () => {
    const account = createAccount(NO_LIMITS, createHalf(1000));
    const child = await account.family.admit(CHILD, NEVER);
    child.hold({ tokens: 700 }).settle({ tokens: 100 });
    child.close();
    assert.ok(account.left.tokens >= 600);
  });
});

describe("a call under a limit", () => {
  it("that allows only a short answer reserves its tokens once", async () => {
    const account = createAccount({ ...NO_LIMITS, tokens: 1000 });
    const { hold } = await holdCall(account, { ...REQUEST, max_output_tokens: 5 }, FREE);
    hold.release();
    assert.equal(account.left.tokens, 1000);
  });

  it("in dollars has no bound if the model is free", async () => {
    const account = createAccount({ ...NO_LIMITS, usd: 1 });
    const priced = { costOf: (usage: { output_tokens: number }) => usage.output_tokens * 0 };
    const { request, hold } = await holdCall(account, REQUEST, priced);
    assert.deepEqual([request.max_output_tokens, hold.most.usd], [undefined, 0]);
  });
});
