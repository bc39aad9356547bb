import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Limits, NO_LIMITS } from "../../src/agent/limits.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { openParentAccount } from "../../src/delegation/parent-account.ts";
import { openLineBudget } from "../../src/delegation/runner/line-budget.ts";
import { encodeAnswer, parseAsk } from "../../src/delegation/top-up.ts";

const limits = (some: Partial<Limits>): Limits => ({ ...NO_LIMITS, ...some });
const { signal: NEVER } = new AbortController();

/** A parent that answers each ask with this many tokens in all. */
function openAnswered(answer: (frame: JsonObject) => number | undefined) {
  let tell: (line: string) => void = () => {};
  const frames: JsonObject[] = [];
  const budget = openLineBudget(limits({ tokens: 100 }), {
    async send(frame) {
      frames.push(frame);
      const tokens = answer(frame);
      if (tokens === undefined) return;
      tell("not for us");
      tell(encodeAnswer({ ask: parseAsk(frame)?.ask ?? 0, given: limits({ tokens }) }));
    },
    onLine(listener) {
      tell = listener;
    },
  });
  const account = openParentAccount(limits({ tokens: 1000 }), budget);
  return { account, frames };
}

describe("the account of a run in a process of its own", () => {
  it("asks its parent for more than it has, once, and has it then", async () => {
    const { account, frames } = openAnswered(() => 400);
    account.hold({ tokens: 60 }).settle({ tokens: 60 });
    await account.gather({ tokens: 200 }, { tokens: 300 }, NEVER);
    assert.equal(account.left.tokens, 340);
    await account.gather({ tokens: 300 }, { tokens: 300 }, NEVER);
    assert.equal(frames.length, 1);
    const asked = parseAsk(frames[0] ?? {});
    assert.deepEqual(
      [asked?.spent.tokens, asked?.least.tokens, asked?.most.tokens],
      [60, 260, 360],
    );
  });

  it("is refused in round figures when its parent has no budget left", async () => {
    const { account } = openAnswered(() => 100);
    await account.gather({ tokens: 200 }, { tokens: 200 }, NEVER);
    assert.throws(() => account.hold({ tokens: 200 }), {
      code: "budget_exceeded",
      message:
        "Its share of 100 tokens does not cover its next call (100 tokens left, about 200 tokens needed), and no more of the budget is left for it.",
    });
  });

  it("stops waiting when its run ends", async () => {
    const { account } = openAnswered(() => undefined);
    const stop = new AbortController();
    const waiting = account.gather({ tokens: 200 }, { tokens: 200 }, stop.signal);
    stop.abort();
    await assert.rejects(waiting, { code: "cancelled" });
  });
});
